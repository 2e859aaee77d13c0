//! What every store adapter must do. An adapter's tests call [`suite!`] with a [`Factory`] of their own;
//! embedded storage runs it here, for each store it can stand for, plainly and through faults.

pub mod create;
pub mod describe;
pub mod documents;
mod embedded;
pub mod guarded;
pub mod questions;
pub mod scan;

use async_trait::async_trait;
use rekey::document::StoreKind;
use rekey::stores::{Collection, CollectionSpec};

/// Makes collections to test on.
#[async_trait]
pub trait Factory: Send + Sync {
    /// The database kind.
    fn kind(&self) -> StoreKind;

    /// Opens a new collection, made to `spec`, empty and unlike any before.
    async fn fresh(&self, spec: &CollectionSpec) -> Box<dyn Collection>;

    /// Opens a collection that does not exist.
    async fn missing(&self) -> Box<dyn Collection>;
}

/// Runs every case against the collections of a factory.
macro_rules! suite {
    ($name:ident, $factory:expr) => {
        mod $name {
            use super::*;
            $crate::conformance::cases! { $factory =>
                create::answers_stand_in_the_order_of_the_documents,
                create::nothing_is_ever_replaced,
                create::one_bad_document_does_not_harm_the_others,
                create::documents_beyond_the_stores_limits_are_refused,
                create::a_key_in_another_spelling_is_the_same_key,
                create::a_unique_index_is_kept,
                create::a_unique_index_takes_a_missing_field_for_null,
                create::what_the_store_sets_is_not_taken_from_a_line,
                create::existing_documents_are_identical_or_in_conflict,
                create::a_full_batch_is_written,
                scan::parts_give_each_document_once,
                scan::a_scan_goes_on_from_any_position_in_another_process,
                scan::an_empty_collection_has_nothing_to_scan,
                scan::a_snapshot_does_not_move,
                scan::documents_are_read_in_the_order_of_the_keys_with_gaps,
                guarded::a_delete_wants_the_expected_document,
                guarded::a_delete_takes_what_was_written_anew_with_the_same_content,
                guarded::a_delete_keeps_what_was_written_anew_with_another_content,
                guarded::a_delete_frees_the_key,
                guarded::an_update_wants_its_guard,
                guarded::an_update_keeps_a_unique_index,
                guarded::a_counter_is_raised_and_never_lowered,
                questions::a_stream_comes_in_the_order_of_its_versions,
                questions::a_large_stream_comes_in_pages,
                questions::a_single_document_is_found_by_its_whole_key,
                questions::the_probe_sees_both_sides_of_the_rekeyed_range,
                questions::the_probe_of_sagas_looks_at_sagas_alone,
                questions::the_probe_reads_strings_only,
                describe::a_collection_is_described_as_it_was_made,
                describe::a_missing_collection_is_not_found_but_on_firestore,
                describe::a_collection_is_made_once,
                describe::every_write_shows_in_the_activity,
                describe::the_neighbours_are_named,
            }
        }
    };
}

macro_rules! cases {
    ($factory:expr => $($module:ident::$case:ident,)*) => {$(
        #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
        async fn $case() {
            let factory = $factory;
            $crate::conformance::$module::$case(&factory).await;
        }
    )*};
}

pub(crate) use {cases, suite};
