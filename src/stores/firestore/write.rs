//! Creates documents: requests of many creates, each answered for itself.
//!
//! The documents of a call are neighbours in the order of their keys. They are sent in no order at all, so that the
//! writes of a moment do not all go to one range of keys.

use std::convert::Infallible;
use std::sync::Arc;

use firestore::gcloud_sdk::prost::bytes::Bytes;
use firestore::gcloud_sdk::tonic::Code;

use super::batch::{Failed, REQUEST_BYTES, send};
use super::decode::append_document;
use super::failure::write_error;
use super::service::Service;
use super::wire::{append_message, append_varint};
use crate::document::Lines;
use crate::document::json::Tape;
use crate::stores::answers::Answers;
use crate::stores::requests::side_by_side;
use crate::stores::{Created, StoreError, StoreErrorKind, StoreResult};

/// Creates documents, never replacing one.
pub(super) async fn create(service: &Arc<Service>, lines: &Lines) -> Vec<Created> {
    let mut answers = Answers::new(lines.len());
    let requests = spread(lines, service.pace.request()).into_iter().map(|places| {
        let (service, mut some) = (service.clone(), Lines::new());
        places.iter().filter_map(|at| lines.get(*at)).for_each(|line| some.push(line));
        async move { (places, send_lines(&service, &some).await) }
    });
    for (places, created) in side_by_side(requests.collect::<Vec<_>>()).await {
        for (at, created) in places.into_iter().zip(created) {
            answers.put(at, created);
        }
    }
    answers.finish()
}

/// Deals out places to requests: in no order, so many documents and so many bytes each at most.
fn spread(lines: &Lines, documents: usize) -> Vec<Vec<usize>> {
    let mut places: Vec<usize> = (0..lines.len()).collect();
    places.sort_unstable_by_key(|at| scattered(*at));
    let (mut requests, mut bytes) = (vec![Vec::new()], 0);
    for at in places {
        let length = lines.get(at).map_or(0, <[u8]>::len);
        let is_full = |request: &Vec<usize>| {
            request.len() >= documents || (bytes > 0 && bytes + length > REQUEST_BYTES)
        };
        if requests.last().is_none_or(is_full) {
            requests.push(Vec::new());
            bytes = 0;
        }
        bytes += length;
        if let Some(request) = requests.last_mut() {
            request.push(at);
        }
    }
    requests
}

/// A number that has nothing to do with its neighbours' (Fibonacci hashing, its bits mixed).
fn scattered(at: usize) -> u64 {
    let mixed = (at as u64 ^ 0x5bd1_e995).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
}

/// Sends the documents of one request, and answers for each.
async fn send_lines(service: &Service, lines: &Lines) -> Vec<Created> {
    let _request = match service.request().await {
        Ok(request) => request,
        Err(error) => return Created::all_failed(lines.len(), &error),
    };
    let mut answers = Answers::new(lines.len());
    let mut tape = Tape::deep();
    let make = |at| write_of(service, &mut tape, lines.get(at).unwrap_or_default());
    let answer = |at: usize, status| answers.put(at, answer_of(status));
    send(service, lines.len(), make, answer).await;
    answers.finish()
}

fn answer_of(status: Result<(), Failed>) -> Created {
    match status {
        Ok(()) => Created::Written,
        Err(Failed::Write(status)) if Code::from_i32(status.code) == Code::AlreadyExists => {
            Created::Exists(None)
        }
        Err(Failed::Write(status)) => write_error(&status).into(),
        Err(Failed::Call(error)) => error.into(),
    }
}

/// A line as a `Write` that replaces nothing, under the target's own project, database and collection.
///
/// What the service would refuse of a document was looked for before the first write.
pub(super) fn write_of(service: &Service, tape: &mut Tape, line: &[u8]) -> StoreResult<Bytes> {
    // Names of types are longer than what stands for them on the wire.
    let mut write = Vec::with_capacity(line.len());
    append_message(&mut write, 1, |out| append_document(tape, line, &service.path, out))
        .map_err(|what| StoreError::new(StoreErrorKind::Permanent, what))?;
    // There must be no such document.
    let Ok(()) = append_message(&mut write, 4, |out| {
        append_varint(out, 1, 0);
        Ok::<(), Infallible>(())
    });
    Ok(write.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_is_dealt_out_once_and_neighbours_go_apart() {
        let mut lines = Lines::new();
        (0..1_000).for_each(|at| lines.push(format!("{at:0>100}").as_bytes()));
        let requests = spread(&lines, 50);
        assert_eq!(requests.len(), 20);
        let mut all: Vec<usize> = requests.concat();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..1_000));
        for request in &requests {
            let far = request.windows(2).filter(|pair| pair[0].abs_diff(pair[1]) > 50).count();
            assert!(far > 30, "{request:?}");
        }
    }

    #[test]
    fn a_request_holds_so_many_bytes_and_one_document_may_be_larger() {
        let mut lines = Lines::new();
        let large = vec![b'x'; REQUEST_BYTES / 2];
        (0..5).for_each(|_| lines.push(&large));
        lines.push(&vec![b'x'; REQUEST_BYTES * 2]);
        let requests = spread(&lines, 500);
        assert!(requests.iter().all(|request| request.len() <= 2), "{requests:?}");
        assert_eq!(requests.concat().len(), 6);
        assert!(spread(&Lines::new(), 500).concat().is_empty());
    }
}
