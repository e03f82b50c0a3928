//! Models in ONNX's format, written field by field: a dozen lines instead of a library.
//! The numbers are those of onnx.proto.

/// An element type: `TensorProto.DataType`.
#[derive(Clone, Copy)]
#[expect(missing_docs, reason = "the names of ONNX")]
pub enum Type {
    Float = 1,
    Bool = 9,
    Float16 = 10,
    Double = 11,
    Bfloat16 = 16,
}

/// A graph of operators with one output each.
pub struct Model {
    graph: Vec<u8>,
    imports: Vec<u8>,
}

impl Model {
    /// A model without nodes, of this version of ONNX's operators.
    #[must_use]
    pub fn new(opset: u8) -> Self {
        Self { graph: text(2, "graph"), imports: bytes(8, &number(2, opset)) }
    }

    /// Imports version 1 of a domain.
    #[must_use]
    pub fn import(mut self, domain: &str) -> Self {
        self.imports.extend(bytes(8, &[text(1, domain), number(2, 1)].concat()));
        self
    }

    /// Adds an input. A dimension of 0 has any size.
    #[must_use]
    pub fn input(mut self, name: &str, element: Type, shape: &[u8]) -> Self {
        self.graph.extend(bytes(11, &value(name, element, shape)));
        self
    }

    /// Adds an output. A dimension of 0 has any size.
    #[must_use]
    pub fn output(mut self, name: &str, element: Type, shape: &[u8]) -> Self {
        self.graph.extend(bytes(12, &value(name, element, shape)));
        self
    }

    /// Adds a node, named as its output. Attributes are integers.
    #[must_use]
    pub fn node(
        mut self,
        (domain, operator): (&str, &str),
        inputs: &[&str],
        output: &str,
        attributes: &[(&str, u8)],
    ) -> Self {
        let mut node: Vec<u8> = inputs.iter().flat_map(|input| text(1, input)).collect();
        node.extend(
            [text(2, output), text(3, output), text(4, operator), text(7, domain)].concat(),
        );
        for (name, value) in attributes {
            const INT: u8 = 2;
            let attribute = [text(1, name), number(3, *value), number(20, INT)].concat();
            node.extend(bytes(5, &attribute));
        }
        self.graph.extend(bytes(1, &node));
        self
    }

    /// The file.
    #[must_use]
    pub fn encode(self) -> Vec<u8> {
        [number(1, 8), bytes(7, &self.graph), self.imports].concat()
    }
}

fn value(name: &str, element: Type, shape: &[u8]) -> Vec<u8> {
    let dimensions = shape.iter().enumerate().flat_map(|(axis, size)| {
        let any = || text(2, &format!("n{axis}"));
        bytes(1, &if *size == 0 { any() } else { number(1, *size) })
    });
    let shape: Vec<u8> = dimensions.collect();
    let tensor = [number(1, element as u8), bytes(2, &shape)].concat();
    [text(1, name), bytes(2, &bytes(1, &tensor))].concat()
}

/// A field of a message: text.
fn text(field: u8, text: &str) -> Vec<u8> {
    bytes(field, text.as_bytes())
}

/// A field of a message: bytes, or a message.
fn bytes(field: u8, content: &[u8]) -> Vec<u8> {
    [varint(usize::from(field) << 3 | 2), varint(content.len()), content.to_vec()].concat()
}

/// A field of a message: a number below 128.
fn number(field: u8, value: u8) -> Vec<u8> {
    [varint(usize::from(field) << 3), vec![value]].concat()
}

/// Seven bits in each byte, the lowest first; the highest bit says that another byte follows.
fn varint(mut value: usize) -> Vec<u8> {
    let mut out = Vec::new();
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
    out
}
