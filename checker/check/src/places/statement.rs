//! Places in words.

use super::{AxisPlaces, Places};
use crate::model::{Layout, coordinate};

impl Places {
    /// The common pattern of the places in a few words, such as `row 17 only, in full`. The words
    /// are exact: `only` means that no other place is bad, and `in full` means that every named
    /// place is bad. `tensor` is the name of the tensor.
    ///
    /// The last two axes are called rows and columns, and the others by their number. The first of
    /// three axes is called experts if the name of the tensor contains `experts` or `_exps`.
    #[must_use]
    pub fn statement(&self, tensor: &str) -> String {
        if self.elements == self.of {
            return "everything".to_owned();
        }
        if self.elements == 1 {
            return "one element".to_owned();
        }
        let named = |names: &dyn Fn(&AxisPlaces) -> bool| {
            let listed = |axis: &&(usize, &AxisPlaces)| {
                axis.1.indices < axis.1.extent && !axis.1.ranges.is_empty() && names(axis.1)
            };
            let axes: Vec<_> = self.axes.iter().enumerate().collect();
            axes.iter().filter(listed).copied().collect::<Vec<_>>()
        };
        // An axis with most of its indices bad tells little, unless the pattern is complete with
        // it.
        let all = named(&|_| true);
        let few = named(&|axis| axis.indices <= axis.extent / 2);
        let axes = if self.within(&all) == self.elements { all } else { few };
        let texts = axes.iter().map(|(axis, places)| self.listed(*axis, places, tensor));
        let texts = texts.collect::<Vec<_>>().join(", ");
        let within = self.within(&axes);
        match texts.as_str() {
            "" => self.spread(tensor),
            _ if within == self.elements => format!("{texts} only, in full"),
            _ => format!("{texts} only, {} of {within} elements there", self.elements),
        }
    }

    /// The indices of a step of the groups of [`Places::map`], such as `expert 20 of 64`. None if
    /// there is no map, or if the tensor has fewer than three axes. `tensor` is the name of the
    /// tensor.
    #[must_use]
    pub fn group(&self, step: usize, tensor: &str) -> Option<String> {
        let (first, last) = self.map.as_ref()?.groups.indices(step);
        let leading = &self.axes[..self.axes.len().checked_sub(2)?];
        match leading {
            [] => None,
            [AxisPlaces { extent, .. }] => {
                let (one, several) = self.labels(0, tensor);
                Some(match first == last {
                    true => format!("{one} {first} of {extent}"),
                    false => format!("{several} {first}-{last} of {extent}"),
                })
            }
            _ => {
                let extents: Vec<_> = leading.iter().map(|axis| axis.extent).collect();
                let coordinate = |index| coordinate(&extents, &Layout::RowMajor, index);
                let axes = format!("axes 0-{}", leading.len() - 1);
                Some(match first == last {
                    true => format!("{axes} at {:?}", coordinate(first)),
                    false => {
                        format!("{axes} from {:?} to {:?}", coordinate(first), coordinate(last))
                    }
                })
            }
        }
    }

    /// The number of elements whose indices on these axes all occur in bad elements.
    fn within(&self, axes: &[(usize, &AxisPlaces)]) -> u64 {
        self.axes.iter().enumerate().fold(1u64, |product, (axis, places)| {
            let is_named = axes.iter().any(|(named, _)| *named == axis);
            product.saturating_mul(if is_named { places.indices } else { places.extent })
        })
    }

    /// The list of the indices of an axis.
    fn listed(&self, axis: usize, places: &AxisPlaces, tensor: &str) -> String {
        let (one, several) = self.labels(axis, tensor);
        let label = if places.indices == 1 { one } else { several };
        let ranges = places.ranges.iter().map(|(first, last)| match last - first {
            0 => first.to_string(),
            _ => format!("{first}-{last}"),
        });
        let ranges = ranges.collect::<Vec<_>>().join(", ");
        // Only axes before rows and columns get their extent, to keep the statement short.
        let of = if axis + 2 < self.axes.len() {
            format!(" of {}", places.extent)
        } else {
            String::new()
        };
        format!("{label} {ranges}{of}")
    }

    /// The number of indices of each axis.
    fn spread(&self, tensor: &str) -> String {
        let counts =
            self.axes.iter().enumerate().map(|(axis, AxisPlaces { extent, indices, .. })| {
                let (one, several) = self.labels(axis, tensor);
                let label = if *extent == 1 { one } else { several };
                match indices == extent {
                    true => format!("all {extent} {label}"),
                    false => format!("{indices} of {extent} {label}"),
                }
            });
        format!("spread over {}", counts.collect::<Vec<_>>().join(", "))
    }

    /// The words for one index and for several indices of an axis.
    fn labels(&self, axis: usize, tensor: &str) -> (String, String) {
        let name = tensor.to_ascii_lowercase();
        let (one, several) = match (self.axes.len(), axis) {
            (1, _) => ("index", "indices"),
            (rank, _) if axis + 1 == rank => ("column", "columns"),
            (rank, _) if axis + 2 == rank => ("row", "rows"),
            (3, 0) if name.contains("experts") || name.contains("_exps") => ("expert", "experts"),
            _ => return (format!("axis {axis} index"), format!("axis {axis} indices")),
        };
        (one.to_owned(), several.to_owned())
    }
}
