//! SQL against loops over the rows.

use std::sync::Arc;

use datafusion::arrow::array::{
    Array, ArrayRef, AsArray, DictionaryArray, Float32Array, Float64Array, Int16Array, Int32Array,
    RecordBatch, RunArray, StringArray, StructArray,
};
use datafusion::arrow::datatypes::{Float64Type, Int16Type, Int32Type, Int64Type};
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionConfig, SessionContext};

/// Rows of a group, a value (perhaps null) and a number for filters.
type Rows = Vec<(i32, Option<f64>, i32)>;

/// Groups of different sizes; some hold nulls only.
fn rows(n: usize) -> Rows {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 20
    };
    let row = |_| {
        let group = (random() % 40).min(random() % 40) as i32;
        let value = match random() % 12 {
            0 | 1 => None,
            2 => Some(f64::NAN),
            3 => Some(f64::INFINITY),
            4 => Some(f64::NEG_INFINITY),
            5 => Some(if random() % 2 == 0 { 0.0 } else { -0.0 }),
            // Subnormal in f64; and in f32, where the first one is 0.
            6 => Some(if random() % 2 == 0 { 1e-310 } else { -1e-40 }),
            7 => Some(-(random() as f64)),
            _ => Some(random() as f64),
        };
        (group, if group == 7 { None } else { value }, (random() % 100) as i32)
    };
    (0..n).map(row).collect()
}

fn batch(rows: &[(i32, Option<f64>, i32)]) -> RecordBatch {
    let singles = rows.iter().map(|row| row.1.map(|x| x as f32));
    // NaN lies under each null.
    let under: Vec<f64> = rows.iter().map(|row| row.1.unwrap_or(f64::NAN)).collect();
    let valid: Vec<bool> = rows.iter().map(|row| row.1.is_some()).collect();
    let doubles = Float64Array::new(under.into(), Some(valid.into()));
    let entries = [1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let key = |x: f64| entries.iter().position(|e| e.to_bits() == x.to_bits()).unwrap_or(0) as i32;
    let keys: Int32Array = rows.iter().map(|row| row.1.map(key)).collect();
    let entries = Arc::new(Float64Array::from(entries.to_vec()));
    let names = rows.iter().map(|row| format!("g{}", row.0));
    let columns: [(&str, ArrayRef); 6] = [
        ("g", Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.0)))),
        ("name", Arc::new(StringArray::from_iter_values(names))),
        ("x", Arc::new(doubles)),
        ("single", Arc::new(Float32Array::from_iter(singles))),
        ("entry", Arc::new(DictionaryArray::<Int32Type>::new(keys, entries))),
        ("k", Arc::new(Int32Array::from_iter_values(rows.iter().map(|row| row.2)))),
    ];
    let nullable = columns.map(|(name, column)| (name, column, true));
    RecordBatch::try_from_iter_with_nullable(nullable).unwrap()
}

/// A table of several partitions with several batches each, one of them empty.
fn context(rows: &Rows, partitions: usize, settings: &[(&str, &str)]) -> SessionContext {
    let mut config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(97);
    for (key, value) in settings {
        config = config.set_str(key, value);
    }
    let mut context = SessionContext::new_with_config(config);
    nonfinite_datafusion::register(&mut context).unwrap();
    let part = rows.len().div_ceil(partitions).max(1);
    let mut parts: Vec<Vec<RecordBatch>> =
        rows.chunks(part).map(|part| part.chunks(61).map(batch).collect()).collect();
    parts.push(vec![batch(&[])]);
    let table = MemTable::try_new(batch(&[]).schema(), parts).unwrap();
    context.register_table("t", Arc::new(table)).unwrap();
    context
}

async fn query(context: &SessionContext, sql: &str) -> RecordBatch {
    let batches = context.sql(sql).await.unwrap().collect().await.unwrap();
    let schema = batches[0].schema();
    datafusion::arrow::compute::concat_batches(&schema, &batches).unwrap()
}

/// Counts and range, as `float_stats` has them.
type Stats = ([i64; 7], [Option<f64>; 3]);

fn stats(values: impl Iterator<Item = Option<f64>> + Clone) -> Stats {
    stats_of(values, f64::is_subnormal)
}

/// The statistics of the column `single`.
fn single_stats(values: impl Iterator<Item = Option<f64>> + Clone) -> Stats {
    stats_of(values.map(|x| x.map(|x| f64::from(x as f32))), |x| (x as f32).is_subnormal())
}

/// The statistics of the column `entry`, in which all finite numbers are 1.
fn entry_stats(values: impl Iterator<Item = Option<f64>> + Clone) -> Stats {
    stats(values.map(|x| x.map(|x| if x.is_finite() { 1.0 } else { x })))
}

fn stats_of(
    values: impl Iterator<Item = Option<f64>> + Clone,
    is_subnormal: fn(f64) -> bool,
) -> Stats {
    let count = |is: fn(f64) -> bool| values.clone().flatten().filter(|&x| is(x)).count() as i64;
    let counts = [
        count(|_| true),
        count(f64::is_finite),
        count(f64::is_nan),
        count(|x| x == f64::INFINITY),
        count(|x| x == f64::NEG_INFINITY),
        count(|x| x == 0.0),
        count(is_subnormal),
    ];
    let finite = || values.clone().flatten().filter(|x| x.is_finite());
    let largest = |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::max);
    let min = largest(&mut finite().map(|x| -x)).map(|x| -x);
    (counts, [min, largest(&mut finite()), largest(&mut finite().map(f64::abs))])
}

fn read_stats(array: &StructArray, row: usize) -> Stats {
    let column = |name| array.column_by_name(name).unwrap();
    let counts = ["count", "finite", "nan", "pos_inf", "neg_inf", "zeros", "subnormals"]
        .map(|name| column(name).as_primitive::<Int64Type>().value(row));
    let range = ["min", "max", "max_abs"].map(|name| {
        let column = column(name).as_primitive::<Float64Type>();
        column.is_valid(row).then(|| column.value(row))
    });
    assert!(range.iter().flatten().all(|x| *x != 0.0 || x.is_sign_positive()), "{range:?}");
    (counts, range)
}

#[tokio::test]
async fn scalar_functions() {
    let rows = rows(1000);
    let context = context(&rows, 1, &[]);
    let sql = "SELECT x, is_nan(x), is_inf(single), is_finite(entry) FROM t";
    let answer = query(&context, sql).await;
    assert_eq!(answer.num_rows(), rows.len());
    for (i, (_, x, _)) in rows.iter().enumerate() {
        let column = |at: usize| {
            let column = answer.column(at).as_boolean();
            column.is_valid(i).then(|| column.value(i))
        };
        assert_eq!(column(1), x.map(f64::is_nan));
        assert_eq!(column(2), x.map(f64::is_infinite));
        assert_eq!(column(3), x.map(f64::is_finite));
    }
    let constants = "SELECT is_nan('NaN'::double), is_nan(1.5::real), is_nan(NULL::double), \
                     is_finite(NULL), isnan('NaN'::double)";
    let answer = query(&context, constants).await;
    let value = |at: usize| {
        let column = answer.column(at).as_boolean();
        column.is_valid(0).then(|| column.value(0))
    };
    assert_eq!([0, 1, 2, 3, 4].map(value), [Some(true), Some(false), None, None, Some(true)]);
    let kept = query(&context, "SELECT count(*) FROM t WHERE is_finite(x)").await;
    let finite = rows.iter().filter(|row| row.1.is_some_and(f64::is_finite)).count();
    assert_eq!(kept.column(0).as_primitive::<Int64Type>().value(0), finite as i64);
}

/// In any number of partitions, and with states instead of partial aggregates.
#[tokio::test]
async fn aggregates() {
    let skip = [
        ("datafusion.execution.skip_partial_aggregation_probe_rows_threshold", "1"),
        ("datafusion.execution.skip_partial_aggregation_probe_ratio_threshold", "0.0"),
    ];
    for n in [0, 1, 5000] {
        let rows = rows(n);
        for (partitions, settings) in [(1, &[][..]), (4, &[]), (4, &skip)] {
            let context = context(&rows, partitions, settings);
            whole(&context, &rows).await;
            for key in ["g", "name"] {
                groups(&context, &rows, key).await;
            }
        }
    }
}

async fn whole(context: &SessionContext, rows: &Rows) {
    let sql = "SELECT nan_count(x), float_stats(single), nan_count(x) FILTER (WHERE k < 30), \
               float_stats(entry), nan_count(NULL) FROM t";
    let answer = query(context, sql).await;
    let all = rows.iter().map(|row| row.1);
    let number = |at: usize| {
        assert_eq!(answer.column(at).null_count(), 0);
        answer.column(at).as_primitive::<Int64Type>().value(0)
    };
    assert_eq!(number(0), stats(all.clone()).0[2]);
    assert_eq!(read_stats(answer.column(1).as_struct(), 0), single_stats(all.clone()));
    let kept = rows.iter().filter(|row| row.2 < 30).map(|row| row.1);
    assert_eq!(number(2), stats(kept).0[2]);
    assert_eq!(read_stats(answer.column(3).as_struct(), 0), entry_stats(all));
    assert_eq!(number(4), 0);
}

async fn groups(context: &SessionContext, rows: &Rows, key: &str) {
    let sql = format!(
        "SELECT min(g), nan_count(x), float_stats(single), float_stats(x) FILTER (WHERE k < 30), \
         nan_count(entry), float_stats(entry), float_stats(NULL) FROM t GROUP BY {key}"
    );
    let answer = context.sql(&sql).await.unwrap().collect().await.unwrap();
    let mut seen = Vec::new();
    for batch in answer {
        for row in 0..batch.num_rows() {
            let group = batch.column(0).as_primitive::<Int32Type>().value(row);
            let values = rows.iter().filter(|row| row.0 == group).map(|row| row.1);
            let number = |at: usize| batch.column(at).as_primitive::<Int64Type>().value(row);
            assert_eq!(number(1), stats(values.clone()).0[2]);
            assert_eq!(read_stats(batch.column(2).as_struct(), row), single_stats(values.clone()));
            let kept = rows.iter().filter(|row| row.0 == group && row.2 < 30).map(|row| row.1);
            assert_eq!(read_stats(batch.column(3).as_struct(), row), stats(kept));
            assert_eq!(number(4), stats(values.clone()).0[2]);
            assert_eq!(read_stats(batch.column(5).as_struct(), row), entry_stats(values));
            assert_eq!(read_stats(batch.column(6).as_struct(), row), ([0; 7], [None; 3]));
            seen.push(group);
        }
    }
    seen.sort_unstable();
    let mut all: Vec<i32> = rows.iter().map(|row| row.0).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(seen, all);
}

/// A window that moves takes rows back.
#[tokio::test]
async fn windows() {
    let rows = rows(300);
    let context = context(&rows, 1, &[]);
    let sql = "SELECT nan_count(x) OVER w, float_stats(x) OVER w FROM \
               (SELECT x, row_number() OVER () AS i FROM t) \
               WINDOW w AS (ORDER BY i ROWS BETWEEN 3 PRECEDING AND 2 FOLLOWING) ORDER BY i";
    let answer = query(&context, sql).await;
    for i in 0..rows.len() {
        let frame = &rows[i.saturating_sub(3)..(i + 3).min(rows.len())];
        let want = stats(frame.iter().map(|row| row.1));
        assert_eq!(answer.column(0).as_primitive::<Int64Type>().value(i), want.0[2]);
        assert_eq!(read_stats(answer.column(1).as_struct(), i), want);
    }
}

/// Runs are decoded for ranges and for groups.
#[tokio::test]
async fn run_end_encoded_columns() {
    let ends = Int16Array::from(vec![2, 3, 6]);
    let values = Float32Array::from(vec![Some(1e-40), None, Some(-2.5)]);
    let runs: ArrayRef = Arc::new(RunArray::<Int16Type>::try_new(&ends, &values).unwrap());
    let groups: ArrayRef = Arc::new(Int32Array::from(vec![0, 0, 0, 0, 1, 1]));
    let batch = RecordBatch::try_from_iter([("x", runs), ("g", groups)]).unwrap();
    let mut context = SessionContext::new();
    nonfinite_datafusion::register(&mut context).unwrap();
    let table = MemTable::try_new(batch.schema(), vec![vec![batch]]).unwrap();
    context.register_table("r", Arc::new(table)).unwrap();
    let small = f64::from(1e-40f32);
    let answer = query(&context, "SELECT float_stats(x) FROM r").await;
    let want = ([5, 5, 0, 0, 0, 0, 2], [Some(-2.5), Some(small), Some(2.5)]);
    assert_eq!(read_stats(answer.column(0).as_struct(), 0), want);
    let answer = query(&context, "SELECT g, float_stats(x) FROM r GROUP BY g ORDER BY g").await;
    let want = [
        ([3, 3, 0, 0, 0, 0, 2], [Some(-2.5), Some(small), Some(2.5)]),
        ([2, 2, 0, 0, 0, 0, 0], [Some(-2.5), Some(-2.5), Some(2.5)]),
    ];
    assert_eq!([0, 1].map(|row| read_stats(answer.column(1).as_struct(), row)), want);
}

#[tokio::test]
async fn other_arguments_are_refused() {
    let context = context(&rows(1), 1, &[]);
    for (sql, says) in [
        ("SELECT is_nan(g) FROM t", "is_nan: Int32 holds values that are no floating-point"),
        ("SELECT nan_count(name) FROM t", "nan_count: Utf8 holds values that are no"),
        (
            "SELECT float_stats(l) FROM (SELECT array_agg(x) AS l FROM t)",
            "several values a row: unnest it",
        ),
        (
            "SELECT nan_count(DISTINCT x), nan_count(DISTINCT k / x) FROM t",
            "nan_count(DISTINCT ..)",
        ),
    ] {
        let refused = match context.sql(sql).await {
            Ok(frame) => frame.collect().await.map(|_| ()),
            Err(error) => Err(error),
        };
        let error = refused.unwrap_err().to_string();
        assert!(error.contains(says), "{sql}: {error}");
    }
}
