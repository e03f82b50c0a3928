//! Where answers go: memory with canaries around, or what a caller supplies, such as guard pages.

/// The value of outputs before a call: neither a result nor a likely mistake.
pub const CANARY: u8 = 0xA5;

/// Memory for the answers of a check.
pub trait Outputs {
    /// `len` bytes for an answer, all [`CANARY`].
    fn room(&mut self, len: usize) -> &mut [u8];
    /// The bytes of the last room.
    fn written(&mut self) -> &[u8];
    /// Whether all bytes around the last room have kept their values.
    fn is_intact(&self) -> bool;
}

/// Canaries before and behind.
const FRAME: usize = 64;

/// A room between canaries.
#[derive(Debug, Default)]
pub struct Framed(Vec<u8>);

impl Outputs for Framed {
    fn room(&mut self, len: usize) -> &mut [u8] {
        self.0.clear();
        self.0.resize(FRAME + len + FRAME, CANARY);
        &mut self.0[FRAME..FRAME + len]
    }
    fn written(&mut self) -> &[u8] {
        &self.0[FRAME..self.0.len() - FRAME]
    }
    fn is_intact(&self) -> bool {
        [&self.0[..FRAME], &self.0[self.0.len() - FRAME..]] == [[CANARY; FRAME]; 2]
    }
}
