use sha2::{Digest as _, Sha256};

/// A legacy stream, as a short digest of the part of the order key that identifies it.
pub type StreamId = [u8; 16];

/// The short digest of a stream.
pub fn stream_id(stream: &[u8]) -> StreamId {
    let digest: [u8; 32] = Sha256::digest(stream).into();
    let mut id = StreamId::default();
    id.copy_from_slice(&digest[..16]);
    id
}
