use super::*;
use crate::profile::Outcome;

const BOOTS: &str = include_str!("../../../profiles/field/boots.csv");
const CASES: &str = include_str!("../../../profiles/field/field_cases.csv");

#[test]
fn the_four_boots_read_with_units_and_bounds() {
    let read = read_csv(BOOTS).unwrap();
    assert!(read.rejected.is_empty());
    let rows: Vec<Row> = read.rows.iter().map(|o| o.memory_row(LMeans::Context).unwrap()).collect();
    assert_eq!(rows[0].pairs, 2048.0 * 100_000.0);
    assert_eq!(rows[0].seen, Seen::Peak(2.97e9));
    // 4.9 GB free less 1.5 GB guard.
    assert_eq!(rows[1].seen, Seen::AtLeast(3.4e9));
    assert_eq!(read.rows[1].outcome, Some(Outcome::Guard));
    assert_eq!(read.rows[3].line, 5);
    let prefix = read.rows[0].memory_row(LMeans::Prefix).unwrap();
    assert_eq!(prefix.pairs, 2048.0 * 102_048.0);
}

#[test]
fn field_outcomes_are_mapped_and_their_wording_kept() {
    let read = read_csv(CASES).unwrap();
    let find =
        |id: &str| read.rows.iter().find(|o| o.extra.get("id").is_some_and(|i| i == id)).unwrap();
    assert_eq!(find("A01.1").outcome, Some(Outcome::Oom));
    assert_eq!(find("A01.2").outcome, None);
    assert_eq!(find("A06.2").outcome, Some(Outcome::Ok));
    assert_eq!(find("A06.2").outcome_text, "pass(tight)");
    assert_eq!(find("A09.2").outcome, Some(Outcome::Oom));
    assert_eq!(find("A13.1").outcome, None);
    assert_eq!(find("A13.1").extra["bytes_per_elem"], "4");
    // A06: 49.7e9 / (16384 * 300,000) = 10.1 B a pair.
    let row = find("A06.2").memory_row(LMeans::Context).unwrap();
    assert!(matches!(row.seen, Seen::Peak(p) if (p / row.pairs - 10.1).abs() < 0.02));
    // D15 has T = -1.
    assert_eq!(read.rejected.len(), 1);
    assert_eq!(read.rejected[0].column, "T");
    assert!(read.rejected[0].to_string().contains("negative"));
}

#[test]
fn bad_cells_are_reported_with_line_and_column() {
    let text = "T,L,peak,ratio\n1024,100k,2 GB,1\n1024,100k,2 XB,1\n0,5,1GB,1\n8,8,1GB,0\n\
                8,8,0,1\n8,99999999999999999999,1GB,1\n8e9,8,1GB,1\n8,8,1GB,two\n";
    let read = read_csv(text).unwrap();
    assert_eq!(read.rows.len(), 1);
    let found: Vec<(u64, &str)> =
        read.rejected.iter().map(|e| (e.line, e.column.as_str())).collect();
    let expected =
        [(3, "peak"), (4, "T"), (5, "ratio"), (6, "peak"), (7, "L"), (8, "T"), (9, "ratio")];
    assert_eq!(found, expected);
    assert!(read.rejected[5].message.contains("the limit is 67108864"));
    assert_eq!(read.rejected[6].message, "`two` is not a whole number of at least 1");
}

#[test]
fn files_without_the_needed_columns_or_rows_are_refused() {
    assert_eq!(read_csv("L,peak\n1,2\n"), Err(ObservationsError::MissingColumn("T")));
    assert_eq!(read_csv("T,L\n1,2\n"), Err(ObservationsError::MissingColumn("peak")));
    assert_eq!(read_csv("T,L,peak\n"), Err(ObservationsError::Empty));
    assert!(matches!(read_csv("T,L,peak\n1,2\n"), Err(ObservationsError::Csv(_))));
    let twice = read_csv("T,L,peak,peak_bytes\n1,2,3,4\n");
    assert!(matches!(twice, Err(ObservationsError::Twice(..))));
}

#[test]
fn a_chunk_that_died_where_a_larger_one_passed_is_reported() {
    let text = "T,L,outcome,limit\n1024,100k,oom,3 GB\n2048,200k,ok,3 GB\n";
    let read = read_csv(text).unwrap();
    let found = contradictions(&read.rows, LMeans::Context);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("line 2: oom at T=1024 L=100000, but line 3 passed"));
    assert!(contradictions(&read_csv(BOOTS).unwrap().rows, LMeans::Context).is_empty());
}

#[test]
fn json_lines_and_parquet_read_like_csv() {
    let csv =
        read_csv("T,L,peak,outcome,site\n2048,100k,2.97 GB,ok,a\n1024,256000,,guard,b\n").unwrap();
    let lines = "{\"T\": 2048, \"L\": \"100k\", \"peak\": \"2.97 GB\", \"outcome\": \"ok\", \
                 \"site\": \"a\"}\n\n{\"L\": 256000, \"T\": 1024, \"peak\": null, \
                 \"outcome\": \"guard\", \"site\": \"b\"}\n";
    let without_lines = |observations: Observations| -> Vec<Observation> {
        observations.rows.into_iter().map(|row| Observation { line: 0, ..row }).collect()
    };
    let json = read(lines.as_bytes()).unwrap();
    assert_eq!(json.rows[1].line, 3);
    assert_eq!(without_lines(json), without_lines(csv.clone()));
    let mut frame = polars::df!(
        "T" => [2048i64, 1024],
        "L" => ["100k", "256000"],
        "peak" => [Some("2.97 GB"), None],
        "outcome" => ["ok", "guard"],
        "site" => ["a", "b"],
    )
    .unwrap();
    let mut bytes = Vec::new();
    polars::prelude::ParquetWriter::new(&mut bytes).finish(&mut frame).unwrap();
    assert_eq!(without_lines(read(&bytes).unwrap()), without_lines(csv));
}

#[test]
fn what_is_no_table_of_observations_is_refused_with_the_place() {
    assert_eq!(read(&[0xff, 0xfe, 0x00]), Err(ObservationsError::Binary));
    assert!(matches!(read(b"PAR1garbage"), Err(ObservationsError::Parquet(_))));
    let error = read(b"{\"T\": 1, \"L\": 2, \"peak\": 9999}\n{oops}\n").unwrap_err();
    assert!(error.to_string().starts_with("line 2: not a JSON object"), "{error}");
    let array = read(b"[{\"T\": 1}]").unwrap_err().to_string();
    assert!(array.contains("one object a line"), "{array}");
    assert_eq!(read(b""), Err(ObservationsError::MissingColumn("T")));
}

#[test]
fn a_column_named_prefix_or_context_says_what_it_is() {
    let row = |header: &str| {
        let read = read_csv(&format!("T,{header},peak\n2048,100k,2.97 GB\n")).unwrap();
        read.rows[0].memory_row(LMeans::Context).unwrap()
    };
    assert_eq!(row("L").e, 100_000.0);
    assert_eq!(row("context").e, 100_000.0);
    assert_eq!(row("prefix").e, 102_048.0);
    assert!(matches!(read_csv("T,L,prefix,peak\n"), Err(ObservationsError::Twice(..))));
}

#[test]
fn a_time_needs_one_length_and_memory_both() {
    let alone = read_csv("T,time_us\n7680,7234073\n7620,220713\n").unwrap();
    assert_eq!((alone.rows.len(), alone.rows[0].l), (2, None));
    assert_eq!(read_csv("L,tok_s\n200k,4486\n").unwrap().rows[0].t, None);
    assert_eq!(read_csv("T,peak\n2048,3 GB\n"), Err(ObservationsError::MissingColumn("L")));
    assert_eq!(read_csv("time_us\n5\n"), Err(ObservationsError::MissingColumn("T")));
}

#[test]
fn columns_that_no_comma_separates_are_named() {
    for (text, name) in [("T;L;peak\n2048;100k;2,97 GB\n", "semicolons"), ("T\tL\tpeak\n", "tabs")]
    {
        let message = read_csv(text).unwrap_err().to_string();
        assert!(message.contains(name) && message.contains("commas"), "{message}");
    }
}

#[test]
fn a_size_that_lost_its_unit_is_rejected_rather_than_taken_for_bytes() {
    let read = read_csv("T,L,peak\n2048,100k,2.97\n2048,100k,2.97 GB\n").unwrap();
    assert_eq!((read.rows.len(), read.rejected.len()), (1, 1));
    assert!(read.rejected[0].to_string().contains("is the unit missing?"));
}

#[test]
fn two_peaks_of_one_chunk_and_more_than_was_free_are_named_by_line() {
    let text = "T,L,peak,free\n1024,100k,2 GB,4 GB\n1024,100k,3 GB,4 GB\n512,9k,5 GB,4 GB\n";
    let found = contradictions(&read_csv(text).unwrap().rows, LMeans::Context);
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(found[0], "lines 2 and 3: the same chunk with peaks of 2.00 GB and 3.00 GB");
    assert!(found[1].starts_with("line 4: passed with a peak of 5.00 GB"));
}

#[test]
fn lengths_of_a_trillion_tokens_are_refused_by_line() {
    let text = "T,L,peak\n1000000000000,1,8 GB\n1024,1000000000000,8 GB\n";
    let read = read_csv(text).unwrap();
    assert!(read.rows.is_empty());
    assert_eq!(
        read.rejected[1].to_string(),
        "line 3, column `L`: 1000000000000 is too long; the limit is 67108864 tokens"
    );
}

#[test]
fn a_chunk_that_died_asked_for_at_least_what_there_was_whatever_was_read_before() {
    let text = "T,L,peak,free,outcome\n2048,150000,2.9GB,8GB,oom\n2048,150000,8.5GB,8GB,oom\n";
    let rows = read_csv(text).unwrap().rows;
    let seen = |i: usize| rows[i].memory_row(LMeans::Context).unwrap().seen;
    assert_eq!((seen(0), seen(1)), (Seen::AtLeast(8e9), Seen::AtLeast(8.5e9)));
}

#[test]
fn chunks_of_another_ratio_do_not_contradict() {
    let text = "T,L,ratio,free,outcome\n1024,400000,4,8GB,ok\n1024,200000,1,8GB,oom\n";
    let rows = read_csv(text).unwrap().rows;
    assert_eq!(contradictions(&rows, LMeans::Context), Vec::<String>::new());
    let same = read_csv(&text.replace("200000,1", "200000,4")).unwrap().rows;
    assert_eq!(contradictions(&same, LMeans::Context).len(), 1);
}
