//! A wire between the tool and a server that can be cut, or taken away.

use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// Passes bytes on until the process ends, or until it is cut; whoever connects again is connected again.
pub struct Wire {
    host: String,
    open: Arc<Mutex<Vec<TcpStream>>>,
    away: Arc<AtomicBool>,
}

impl Wire {
    pub fn to(upstream: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let (open, upstream) = (Arc::<Mutex<Vec<TcpStream>>>::default(), upstream.to_owned());
        let (connections, away) = (open.clone(), Arc::<AtomicBool>::default());
        let is_away = away.clone();
        let _accepting = thread::spawn(move || {
            for client in listener.incoming().flatten() {
                if is_away.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(server) = TcpStream::connect(&upstream) else { continue };
                let mut open = connections.lock().unwrap();
                for (from, to) in [(&client, &server), (&server, &client)] {
                    open.push(from.try_clone().unwrap());
                    let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                    let _passing = thread::spawn(move || pass(&from, &to));
                }
            }
        });
        Self { host, open, away }
    }

    /// Where to connect to.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Cuts every connection, in the middle of whatever is on its way; tells whether there was any.
    pub fn cut(&self) -> bool {
        let open = std::mem::take(&mut *self.open.lock().unwrap());
        let cut = open.iter().filter(|socket| socket.shutdown(Shutdown::Both).is_ok()).count();
        cut > 0
    }

    /// Takes it away for good: every connection is cut, and whoever connects is refused.
    pub fn take_away(&self) {
        self.away.store(true, Ordering::SeqCst);
        // It is what wakes the listener, which then is gone.
        let _ = TcpStream::connect(&self.host);
        while TcpStream::connect(&self.host).is_ok() {
            thread::yield_now();
        }
        let _ = self.cut();
    }
}

fn pass(mut from: &TcpStream, mut to: &TcpStream) {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let passed = from.read(&mut buffer).and_then(|length| match length {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            length => to.write_all(&buffer[..length]),
        });
        if passed.is_err() {
            let _ = (from.shutdown(Shutdown::Both), to.shutdown(Shutdown::Both));
            return;
        }
    }
}
