// IsFinite, IsInf and IsNaN for OpenVINO in the opset "nonfinite", with the names, shapes and
// attributes of IsFinite-10, IsInf-10 and IsNaN-10 of opset10. libnonfinite answers.
// `Core::add_extension` loads the library that `engines/openvino/test` builds from this file.
// Models then say `version="nonfinite"` instead of `version="opset10"`.
#include <memory>
#include <openvino/core/extension.hpp>
#include <openvino/core/op_extension.hpp>
#include <openvino/frontend/onnx/extension/conversion.hpp>
#include <openvino/op/convert.hpp>
#include <openvino/op/op.hpp>
#include <vector>

#include <nonfinite.h>

namespace {

// 0, which is no format, for what has no exponent, or more elements than bytes.
nf_format format_of(const ov::element::Type &type) {
  switch (type) {
  case ov::element::Type_t::f16:
    return NF_FORMAT_F16;
  case ov::element::Type_t::bf16:
    return NF_FORMAT_BF16;
  case ov::element::Type_t::f32:
    return NF_FORMAT_F32;
  case ov::element::Type_t::f64:
    return NF_FORMAT_F64;
  case ov::element::Type_t::f8e4m3:
    return NF_FORMAT_F8E4M3FN;
  case ov::element::Type_t::f8e5m2:
    return NF_FORMAT_F8E5M2;
  case ov::element::Type_t::f8e8m0:
    return NF_FORMAT_F8E8M0FNU;
  default:
    return 0;
  }
}

// What the three have in common: one input of any shape, and one output of that shape, boolean or
// u8. Both are a byte, 0 or 1.
class Classification : public ov::op::Op {
public:
  OPENVINO_OP("Classification", "nonfinite");

  bool visit_attributes(ov::AttributeVisitor &visitor) override {
    visitor.on_attribute("output_type", output_type_);
    return true;
  }

  void set_output_element_type(const ov::element::Type &type) {
    output_type_ = type;
    validate_and_infer_types();
  }

  void validate_and_infer_types() override {
    const auto &type = get_input_element_type(0);
    NODE_VALIDATION_CHECK(this,
                          output_type_ == ov::element::boolean || output_type_ == ov::element::u8,
                          "The output type must be boolean or u8 (got ", output_type_, ").");
    NODE_VALIDATION_CHECK(this, type != ov::element::f4e2m1,
                          "f4e2m1 has two elements in a byte. This operator reads whole bytes.");
    NODE_VALIDATION_CHECK(this, type.is_dynamic() || format_of(type) != 0,
                          "The element type of the input tensor must be a floating point number or "
                          "dynamic (got ",
                          type, ").");
    set_output_type(0, output_type_, get_input_partial_shape(0));
  }

  bool has_evaluate() const override {
    const auto &type = get_input_element_type(0);
    return type.is_dynamic() || format_of(type) != 0;
  }

  // For packed tensors only: tensors with other strides give wrong answers here. The CPU plugin
  // calls this overload, with its own memory. Constant folding calls it too. Asking a tensor for
  // its strides would take 0.2 us, which is as long as the answer for thousands of elements.
  bool evaluate(ov::TensorVector &outputs, const ov::TensorVector &inputs) const override {
    const ov::Tensor &x = inputs.at(0);
    ov::Tensor &out = sized(outputs, x);
    check(nf_mask(x.data(), format_of(x.get_element_type()), x.get_size(), predicate(),
                  static_cast<uint8_t *>(out.data())));
    return true;
  }

  // For tensors with any strides, such as parts of larger ones. `Model::evaluate` calls this
  // overload.
  bool evaluate(ov::TensorVector &outputs, const ov::TensorVector &inputs,
                const ov::EvaluationContext &) const override {
    const ov::Tensor &x = inputs.at(0);
    ov::Tensor &out = sized(outputs, x);
    const ov::Shape sizes = x.get_shape();
    const auto steps = [](const ov::Tensor &tensor) {
      std::vector<ptrdiff_t> strides;
      for (const size_t bytes : tensor.get_strides()) {
        strides.push_back(static_cast<ptrdiff_t>(bytes / tensor.get_element_type().size()));
      }
      return strides;
    };
    const auto from = steps(x), to = steps(out);
    const nf_view view = {x.data(),
                          format_of(x.get_element_type()),
                          sizes.size(),
                          sizes.data(),
                          from.data(),
                          0,
                          nullptr,
                          0};
    check(nf_view_mask(&view, predicate(), static_cast<uint8_t *>(out.data()), 0, to.data()));
    return true;
  }

protected:
  using ov::op::Op::Op;
  virtual nf_predicate predicate() const = 0;

  // The copy of an operator has the same type of output.
  std::shared_ptr<ov::Node> typed(const std::shared_ptr<Classification> &copy) const {
    copy->set_output_element_type(output_type_);
    return copy;
  }

private:
  // The output, with the shape of the input.
  static ov::Tensor &sized(ov::TensorVector &outputs, const ov::Tensor &x) {
    ov::Tensor &out = outputs.at(0);
    if (out.get_shape() != x.get_shape()) {
      out.set_shape(x.get_shape());
    }
    return out;
  }

  void check(nf_status status) const {
    OPENVINO_ASSERT(status == NF_OK, get_type_name(), ": ", nf_status_message(status));
  }

  ov::element::Type output_type_ = ov::element::boolean;
};

class IsFinite : public Classification {
public:
  OPENVINO_OP("IsFinite", "nonfinite", Classification);

  IsFinite() = default;
  explicit IsFinite(const ov::Output<ov::Node> &x) : Classification({x}) {
    constructor_validate_and_infer_types();
  }

  std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector &inputs) const override {
    check_new_args_count(this, inputs);
    return typed(std::make_shared<IsFinite>(inputs.at(0)));
  }

protected:
  nf_predicate predicate() const override { return NF_IS_FINITE; }
};

class IsNaN : public Classification {
public:
  OPENVINO_OP("IsNaN", "nonfinite", Classification);

  IsNaN() = default;
  explicit IsNaN(const ov::Output<ov::Node> &x) : Classification({x}) {
    constructor_validate_and_infer_types();
  }

  std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector &inputs) const override {
    check_new_args_count(this, inputs);
    return typed(std::make_shared<IsNaN>(inputs.at(0)));
  }

protected:
  nf_predicate predicate() const override { return NF_IS_NAN; }
};

class IsInf : public Classification {
public:
  OPENVINO_OP("IsInf", "nonfinite", Classification);

  IsInf() = default;
  IsInf(const ov::Output<ov::Node> &x, bool detect_negative, bool detect_positive)
      : Classification({x}), detect_negative_(detect_negative), detect_positive_(detect_positive) {
    constructor_validate_and_infer_types();
  }

  std::shared_ptr<ov::Node> clone_with_new_inputs(const ov::OutputVector &inputs) const override {
    check_new_args_count(this, inputs);
    return typed(std::make_shared<IsInf>(inputs.at(0), detect_negative_, detect_positive_));
  }
  bool visit_attributes(ov::AttributeVisitor &visitor) override {
    visitor.on_attribute("detect_negative", detect_negative_);
    visitor.on_attribute("detect_positive", detect_positive_);
    return Classification::visit_attributes(visitor);
  }

protected:
  nf_predicate predicate() const override { return nf_is_inf(detect_negative_, detect_positive_); }

private:
  bool detect_negative_ = true, detect_positive_ = true;
};

// What a node of an ONNX file becomes: the operator with a u8 output, and a Convert to boolean. The
// CPU plugin computes booleans as u8, and its operators cannot read the booleans of an extension.
ov::OutputVector onnx_outputs(const std::shared_ptr<Classification> &op) {
  op->set_output_element_type(ov::element::u8);
  return std::make_shared<ov::op::v0::Convert>(op, ov::element::boolean)->outputs();
}

template <typename Operator> ov::OutputVector from_onnx(const ov::frontend::NodeContext &node) {
  return onnx_outputs(std::make_shared<Operator>(node.get_input(0)));
}

// In ONNX the attributes are integers: any number except 0 is on.
template <> ov::OutputVector from_onnx<IsInf>(const ov::frontend::NodeContext &node) {
  const auto on = [&node](const char *name) { return node.get_attribute<int64_t>(name, 1) != 0; };
  return onnx_outputs(std::make_shared<IsInf>(node.get_input(0), on("detect_negative"),
                                              on("detect_positive")));
}

template <typename Operator> ov::Extension::Ptr onnx_extension() {
  return std::make_shared<ov::frontend::onnx::ConversionExtension>(
      Operator::get_type_info_static().name, "nonfinite", from_onnx<Operator>);
}

} // namespace

OPENVINO_CREATE_EXTENSIONS(std::vector<ov::Extension::Ptr>({
    std::make_shared<ov::OpExtension<IsFinite>>(),
    std::make_shared<ov::OpExtension<IsNaN>>(),
    std::make_shared<ov::OpExtension<IsInf>>(),
    onnx_extension<IsFinite>(),
    onnx_extension<IsNaN>(),
    onnx_extension<IsInf>(),
}));
