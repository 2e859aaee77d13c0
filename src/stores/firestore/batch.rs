//! Requests of many writes, of which each has an answer of its own.
//!
//! One write that the service never takes fails the whole request, which then did nothing: it is halved until the
//! culprit stands alone. So is a request that is too large.

use std::ops::Range;

use firestore::gcloud_sdk::google::rpc;
use firestore::gcloud_sdk::prost::bytes::Bytes;
use firestore::gcloud_sdk::tonic::{Code, Status};

use super::failure::{Effect, call_error, is_about_contents};
use super::service::Service;
use crate::stores::{StoreError, StoreResult};

/// The most bytes of a request; the service takes 10 MiB of its own encoding, the emulator 4 MiB.
pub(super) const REQUEST_BYTES: usize = 3 * 1024 * 1024;

/// Why a write was not done, or is not known to be.
pub(super) enum Failed {
    /// The service's answer to this write.
    Write(rpc::Status),
    /// The failure of the call it was in, or of making it.
    Call(StoreError),
}

/// Sends so many writes, and tells what became of each by its place. `make` makes the `Write` of a place; it is asked
/// again for what has to be sent again.
pub(super) async fn send(
    service: &Service,
    count: usize,
    mut make: impl FnMut(usize) -> StoreResult<Bytes>,
    mut answer: impl FnMut(usize, Result<(), Failed>),
) {
    let whole = 0..count;
    let mut left = vec![whole];
    while let Some(places) = left.pop() {
        let mut writes = Vec::with_capacity(places.len());
        for at in places.clone() {
            match make(at) {
                Ok(write) => writes.push((at, write)),
                Err(error) => answer(at, Err(Failed::Call(error))),
            }
        }
        let (sent, writes): (Vec<usize>, Vec<Bytes>) = writes.into_iter().unzip();
        let is_too_large = || writes.iter().map(Bytes::len).sum::<usize>() > REQUEST_BYTES;
        if sent.len() > 1 && is_too_large() {
            left.extend(halves(&places));
            continue;
        }
        if let Err(error) = service.admit(writes.len()).await {
            for at in sent {
                answer(at, Err(Failed::Call(error.duplicate())));
            }
            continue;
        }
        match call(service, writes).await {
            Ok(statuses) => {
                if statuses.iter().any(is_done) {
                    service.waits.wrote();
                }
                for (at, status) in sent.into_iter().zip(statuses) {
                    answer(at, if is_done(&status) { Ok(()) } else { Err(Failed::Write(status)) });
                }
            }
            Err(status) if sent.len() > 1 && is_about_contents(&status) => left.extend(halves(&places)),
            Err(status) => {
                let error = call_error("BatchWrite", Effect::Writes, &status);
                for at in sent {
                    answer(at, Err(Failed::Call(error.duplicate())));
                }
            }
        }
    }
}

fn is_done(status: &rpc::Status) -> bool {
    Code::from_i32(status.code) == Code::Ok
}

/// Both halves of a range, the first one last, so that it is taken next.
fn halves(places: &Range<usize>) -> [Range<usize>; 2] {
    let middle = places.start + places.len() / 2;
    [middle..places.end, places.start..middle]
}

async fn call(service: &Service, writes: Vec<Bytes>) -> Result<Vec<rpc::Status>, Status> {
    if writes.is_empty() {
        return Ok(Vec::new());
    }
    Ok(service.batch_write(writes).await?.status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_the_whole() {
        assert_eq!(halves(&(0..5)), [2..5, 0..2]);
        assert_eq!(halves(&(3..5)), [4..5, 3..4]);
    }
}
