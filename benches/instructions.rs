//! Runs one of the loops that every document goes through, for `scripts/instructions.sh` to count its instructions.
//!
//! ```text
//! instructions          the names of the loops, one a line, with the number of documents of one run
//! instructions LOOP     runs it; what is to be counted happens in `counted_run`
//! ```

mod loops;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let asked = std::env::args().nth(1);
    for mut one in loops::all()? {
        match &asked {
            None => println!("{}\t{}", one.name, one.documents),
            Some(name) if *name == one.name => {
                (one.run)().and_then(|()| counted_run(&mut *one.run)).map_err(|error| error.to_string())?;
            }
            Some(_) => {}
        }
    }
    Ok(())
}

#[inline(never)]
fn counted_run(run: &mut dyn FnMut() -> rekey::Result<()>) -> rekey::Result<()> {
    run()
}
