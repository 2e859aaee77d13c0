//! How long the loops take that every document goes through.
//!
//! ```text
//! cargo bench --no-default-features [NAME]
//! ```

mod loops;

use std::error::Error;

use criterion::{Criterion, Throughput};

fn main() -> Result<(), Box<dyn Error>> {
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("document");
    for mut one in loops::all()? {
        // What fails is told here; the runs that are timed throw their outcome away.
        (one.run)().map_err(|error| error.to_string())?;
        let _ = group.throughput(Throughput::Elements(one.documents));
        let _ = group.bench_function(&one.name, |bencher| bencher.iter(&mut one.run));
    }
    group.finish();
    criterion.final_summary();
    Ok(())
}
