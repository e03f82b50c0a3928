//! Columns, and the questions that one can ask of them.

mod flat;
mod nested;
mod question;
mod visit;

use arrow_array::{Array, ArrayRef, BooleanArray};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, NullBuffer};
use arrow_schema::DataType;
use nonfinite::{Census, Predicate};

use crate::Error;
use question::{Count, Position, Question, TakeCensus, ValidCount};
pub use visit::Values;
use visit::Visit;

/// A column of floating-point numbers, in one array or in chunks, flat or nested: the crate's
/// documentation has the list of types. It is checked once, when it is made.
///
/// Questions are about all values that are not null and not inside a null list or struct. An index
/// is the number of a row, counted from the start of the first chunk. A question panics if its
/// predicate has a threshold for another format than that of a value.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a>(Chunks<'a>);

#[derive(Clone, Copy, Debug)]
enum Chunks<'a> {
    One(&'a dyn Array),
    Many(&'a [ArrayRef]),
}

impl<'a> Column<'a> {
    /// The column of this array.
    ///
    /// # Errors
    /// [`Error::NotFloat`] if the array may hold values that are no floating-point numbers.
    pub fn new(array: &'a dyn Array) -> Result<Self, Error> {
        check(array.data_type())?;
        Ok(Self(Chunks::One(array)))
    }

    /// The column of these arrays, one after the other.
    ///
    /// # Errors
    /// [`Error::NotFloat`] as [`Column::new`], or [`Error::ChunkTypes`].
    pub fn chunked(chunks: &'a [ArrayRef]) -> Result<Self, Error> {
        if let [first, others @ ..] = chunks {
            let first = first.data_type();
            check(first)?;
            if let Some(other) = others.iter().find(|other| other.data_type() != first) {
                let other = other.data_type().to_string();
                return Err(Error::ChunkTypes { first: first.to_string(), other });
            }
        }
        Ok(Self(Chunks::Many(chunks)))
    }

    fn chunks(self) -> impl Iterator<Item = &'a dyn Array> {
        let (one, many): (_, &[ArrayRef]) = match self.0 {
            Chunks::One(array) => (Some(array), &[]),
            Chunks::Many(chunks) => (None, chunks),
        };
        one.into_iter().chain(many.iter().map(|chunk| &**chunk))
    }

    /// The number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chunks().map(|chunk| chunk.len()).sum()
    }

    /// Whether there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many values there are, nulls left out.
    #[must_use]
    pub fn valid_count(&self) -> usize {
        self.ask(&ValidCount)
    }

    /// For how many values `predicate` holds.
    #[must_use]
    pub fn count(&self, predicate: Predicate) -> usize {
        self.ask(&Count(predicate))
    }

    /// Whether `predicate` holds for a value. Stops soon after the first.
    #[must_use]
    pub fn any(&self, predicate: Predicate) -> bool {
        self.position(predicate).is_some()
    }

    /// Whether `predicate` holds for all values; true of none.
    #[must_use]
    pub fn all(&self, predicate: Predicate) -> bool {
        match predicate {
            Predicate::Finite => !self.any(Predicate::NonFinite),
            Predicate::NonFinite => !self.any(Predicate::Finite),
            _ => self.count(predicate) == self.valid_count(),
        }
    }

    /// The first row with a value for which `predicate` holds.
    #[must_use]
    pub fn position(&self, predicate: Predicate) -> Option<usize> {
        self.ask(&Position(predicate))
    }

    /// How many values are NaN, +Inf and -Inf, and the first row with one of each.
    #[must_use]
    pub fn census(&self) -> Census {
        self.ask(&TakeCensus)
    }

    /// What the finite values are: minimum, maximum and maximum magnitude with the first row of
    /// each, counts of zeros, subnormal and normal numbers, and the census. A dictionary or a
    /// run-end encoded array is decoded into a new array before, with one value a row.
    ///
    /// The fields of a struct may have different formats. [`crate::Extreme::bits`] has the format
    /// of the value, and a number counts as subnormal if it is subnormal in its own format.
    #[cfg(feature = "stats")]
    #[cfg_attr(docsrs, doc(cfg(feature = "stats")))]
    #[must_use]
    pub fn stats(&self) -> crate::Stats {
        self.ask(&question::TakeStats)
    }

    /// Whether `predicate` holds for the value of each row. Null rows are null. An entry of a
    /// dictionary that is null makes null rows, too.
    ///
    /// # Errors
    /// [`Error::Nested`] if there are several values a row.
    pub fn mask(&self, predicate: Predicate) -> Result<BooleanArray, Error> {
        match self.chunks().find(|chunk| !flat::is_flat(chunk.data_type())) {
            Some(nested) => Err(Error::Nested { data_type: nested.data_type().to_string() }),
            None => Ok(self.any_rows(predicate)),
        }
    }

    /// Whether each row has a value for which `predicate` holds. Null rows are null. Null values of
    /// a row count as nothing. A list without values has none.
    #[must_use]
    pub fn any_rows(&self, predicate: Predicate) -> BooleanArray {
        self.rows(|chunk| nested::rows(chunk, &|array| flat::hits(array, predicate)))
    }

    /// Whether `predicate` holds for all values of each row. Null rows are null. Null values of a
    /// row count as nothing, and for a list without values the answer is yes.
    #[must_use]
    pub fn all_rows(&self, predicate: Predicate) -> BooleanArray {
        self.rows(|chunk| {
            let fails = |array: &dyn Array| {
                let others = !&flat::hits(array, predicate);
                flat::clear_nulls(others, array.logical_nulls().as_ref())
            };
            !&nested::rows(chunk, &fails)
        })
    }

    /// The answers of all chunks, which are null where rows are.
    fn rows(&self, answers: impl Fn(&dyn Array) -> BooleanBuffer) -> BooleanArray {
        let one = |chunk: &dyn Array| {
            let nulls = chunk.logical_nulls().filter(|nulls| nulls.null_count() > 0);
            BooleanArray::new(flat::clear_nulls(answers(chunk), nulls.as_ref()), nulls)
        };
        if let Chunks::One(array) = self.0 {
            return one(array);
        }
        let mut values = BooleanBufferBuilder::new(self.len());
        let mut valid = BooleanBufferBuilder::new(self.len());
        for chunk in self.chunks() {
            let answer = one(chunk);
            values.append_buffer(answer.values());
            match answer.nulls() {
                Some(nulls) => valid.append_buffer(nulls.inner()),
                None => valid.append_n(chunk.len(), true),
            }
        }
        let nulls = NullBuffer::new(valid.finish());
        BooleanArray::new(values.finish(), Some(nulls).filter(|nulls| nulls.null_count() > 0))
    }

    /// Places in each row. This is the number of values in a row if fixed-size lists are the only
    /// lists of the column, and if all fields of each struct agree about this number. Otherwise a
    /// place is a row, and this is 1.
    #[must_use]
    pub fn places_per_row(&self) -> usize {
        self.chunks().next().and_then(|chunk| visit::per_row(chunk.data_type())).unwrap_or(1)
    }

    /// Shows all values to `see`, where they lie, for questions that this crate does not answer.
    /// Nulls are among the values: see [`Values::nulls`]. Dictionaries and run-end encoded arrays
    /// are decoded into new arrays, some rows at a time.
    ///
    /// `only` says that other values do not matter. Then a visit may leave them out, and skips each
    /// dictionary and each run-end encoded array that has no such value.
    ///
    /// # Errors
    /// The first error of `see`, which ends the visit.
    pub fn visit<E>(
        &self,
        only: Option<Predicate>,
        see: &mut dyn FnMut(Values<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut rows = 0;
        for chunk in self.chunks() {
            let expands = visit::per_row(chunk.data_type()).is_some();
            let mut visit = Visit { expands, only, see: &mut *see };
            visit.column(chunk, &|row| rows + row)?;
            rows += chunk.len();
        }
        Ok(())
    }

    fn ask<Q: Question>(&self, question: &Q) -> Q::Answer {
        let mut all = question.none();
        let mut rows = 0;
        for chunk in self.chunks() {
            if question.is_decided(&all) {
                break;
            }
            let answer = nested::ask(chunk, question);
            all = question.join(all, question.in_rows(answer, &|row| rows + row));
            rows += chunk.len();
        }
        all
    }
}

/// Whether all values of arrays of this type are floating-point numbers.
fn check(data_type: &DataType) -> Result<(), Error> {
    fn is_float(data_type: &DataType) -> bool {
        match data_type {
            DataType::List(field)
            | DataType::LargeList(field)
            | DataType::ListView(field)
            | DataType::LargeListView(field)
            | DataType::FixedSizeList(field, _) => is_float(field.data_type()),
            // A struct without fields has nothing to look at.
            DataType::Struct(fields) => {
                !fields.is_empty() && fields.iter().all(|field| is_float(field.data_type()))
            }
            flat => flat::is_flat(flat),
        }
    }
    match is_float(data_type) {
        true => Ok(()),
        false => Err(Error::NotFloat { data_type: data_type.to_string() }),
    }
}
