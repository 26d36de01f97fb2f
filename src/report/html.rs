//! `report.html`: the report and its plots on one page that needs no other file.

use super::document::{Document, escape};
use super::plot::Plot;

const STYLE: &str = "\
:root{color-scheme:light}\
body{font:15px/1.5 system-ui,-apple-system,'Segoe UI',Helvetica,Arial,sans-serif;color:#1b1f24;\
background:#fff;max-width:1120px;margin:2.5rem auto;padding:0 1.5rem}\
h1{font-size:1.5rem;margin:0}\
h2{font-size:1.1rem;margin:2.2rem 0 .5rem;border-bottom:1px solid #d8dee4;padding-bottom:.25rem}\
.sub{color:#57606a;margin:.2rem 0 0}\
table{border-collapse:collapse;font-size:13px;margin:.5rem 0;display:block;overflow-x:auto}\
th,td{padding:.25rem .7rem;text-align:left;border-bottom:1px solid #eaeef2;white-space:nowrap}\
th{font-weight:600;color:#57606a}\
.n{text-align:right;font-variant-numeric:tabular-nums}\
figure{margin:1rem 0;border:1px solid #eaeef2;border-radius:6px;padding:.5rem}\
figure svg{width:100%;height:auto;display:block}\
code{font-size:13px}";

/// The page.
pub fn page(document: &Document, profile_sha256: &str, plots: &[Plot]) -> String {
    let figures: String = plots
        .iter()
        .map(|plot| {
            let title = escape(&plot.title);
            format!("<figure aria-label=\"{title}\">\n{}\n</figure>\n", inline(&plot.svg))
        })
        .collect();
    let headline = escape(&document.headline);
    let plots = if figures.is_empty() {
        String::new()
    } else {
        format!("<section>\n<h2>Plots</h2>\n{figures}</section>\n")
    };
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>chunktune: {headline}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n\
         <h1>{headline}</h1>\n<p class=\"sub\">profile <code>{}</code></p>\n{plots}{}</body>\n</html>\n",
        escape(profile_sha256),
        document.html(),
    )
}

/// SVG for use inside HTML: without an XML declaration, and scaling with the page.
fn inline(svg: &str) -> &str {
    svg.find("<svg").map_or(svg, |at| &svg[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_needs_no_other_file() {
        let document = Document { headline: "a < b".into(), sections: Vec::new() };
        let svg = "<?xml version=\"1.0\"?>\n<svg></svg>".to_owned();
        let plot = Plot { file: "peak.svg".into(), title: "Peak".into(), svg };
        let page = page(&document, "ff", &[plot]);
        assert!(page.contains("<h1>a &lt; b</h1>") && page.contains("<svg></svg>"));
        assert!(!page.contains("<?xml") && !page.contains("src=") && !page.contains("http"));
    }
}
