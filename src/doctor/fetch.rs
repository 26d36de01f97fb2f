//! Asks a running server for its settings: plain HTTP, one request a path. A URL goes in; the body
//! comes out.

use std::io::{Read as _, Write as _};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

/// How long a server may take for each step.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest answer read.
const LONGEST: u64 = 16 << 20;
/// Where SGLang answers, newest first.
const PATHS: [&str; 2] = ["/server_info", "/get_server_info"];

/// The settings of the server at `url`, such as `http://localhost:30000`.
///
/// # Errors
/// What went wrong, in words.
pub fn server_info(url: &str) -> Result<String, String> {
    let rest = url.strip_prefix("http://").ok_or(
        "only http:// is spoken; save the answer of \
        /server_info to a file and give that",
    )?;
    let (host, path) = rest.split_once('/').map_or((rest, ""), |(host, path)| (host, path));
    let asked: Vec<String> = match path {
        "" => PATHS.map(str::to_owned).to_vec(),
        path => vec![format!("/{path}")],
    };
    let mut last = String::new();
    for path in asked {
        let (status, body) = get(host, &path).map_err(|error| format!("{host}: {error}"))?;
        if status == 200 {
            return Ok(body);
        }
        last = format!("{host}{path} answers {status}");
    }
    Err(last)
}

fn get(host: &str, path: &str) -> std::io::Result<(u16, String)> {
    let other = |what: &str| std::io::Error::other(what.to_owned());
    let target = if host.contains(':') { host.to_owned() } else { format!("{host}:80") };
    let address = target.to_socket_addrs()?.next().ok_or_else(|| other("no address"))?;
    let mut stream = TcpStream::connect_timeout(&address, PATIENCE)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    // HTTP/1.0: the body ends with the connection and is not cut into pieces.
    let request =
        format!("GET {path} HTTP/1.0\r\nHost: {host}\r\nAccept: application/json\r\n\r\n");
    stream.write_all(request.as_bytes())?;
    let mut bytes = Vec::new();
    stream.take(LONGEST).read_to_end(&mut bytes)?;
    let text = String::from_utf8(bytes).map_err(|_| other("the answer is not text"))?;
    let (head, body) = text.split_once("\r\n\r\n").ok_or_else(|| other("no HTTP answer"))?;
    let status = head.split_whitespace().nth(1).and_then(|word| word.parse().ok());
    Ok((status.ok_or_else(|| other("no HTTP status"))?, body.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    /// A server that answers each request with the next of `answers` and gives the paths asked.
    fn serve(answers: &'static [&'static str]) -> (String, std::thread::JoinHandle<Vec<String>>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let handle = std::thread::spawn(move || {
            let asked = answers.iter().map(|answer| {
                let (mut stream, _) = listener.accept().unwrap();
                let mut request = [0; 512];
                let read = stream.read(&mut request).unwrap();
                stream.write_all(answer.as_bytes()).unwrap();
                let text = String::from_utf8_lossy(&request[..read]).into_owned();
                text.split_whitespace().nth(1).unwrap().to_owned()
            });
            asked.collect()
        });
        (url, handle)
    }

    #[test]
    fn an_older_server_is_asked_under_its_older_name() {
        let (url, asked) = serve(&[
            "HTTP/1.0 404 Not Found\r\n\r\n{}",
            "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n{\"a\": 1}",
        ]);
        assert_eq!(server_info(&url).unwrap(), "{\"a\": 1}");
        assert_eq!(asked.join().unwrap(), ["/server_info", "/get_server_info"]);
    }

    #[test]
    fn a_server_that_is_not_there_and_another_scheme_are_said() {
        let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        assert!(server_info(&format!("http://{free}")).unwrap_err().contains("refused"));
        assert!(server_info("https://localhost").unwrap_err().contains("only http://"));
    }
}
