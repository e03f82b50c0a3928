"""Is it NaN, is it infinite, is it finite? Exact answers for arrays, tensors and files."""

from nonfinite.cluster import Piece as Piece
from nonfinite.cluster import Plan as Plan
from nonfinite.cluster import Tallies as Tallies
from nonfinite.cluster import check_piece as check_piece
from nonfinite.cluster import check_pieces as check_pieces
from nonfinite.cluster import merge as merge
from nonfinite.cluster import plan as plan
from nonfinite.errors import ChangedError as ChangedError
from nonfinite.errors import CheckError as CheckError
from nonfinite.errors import ClusterError as ClusterError
from nonfinite.errors import FixError as FixError
from nonfinite.errors import InvalidFileError as InvalidFileError
from nonfinite.errors import LimitError as LimitError
from nonfinite.errors import RemoteError as RemoteError
from nonfinite.errors import UnknownFormatError as UnknownFormatError
from nonfinite.files import Fixed as Fixed
from nonfinite.files import FixedTensor as FixedTensor
from nonfinite.files import check as check
from nonfinite.files import check_file as check_file
from nonfinite.files import fix as fix
from nonfinite.options import Options as Options
from nonfinite.report import FileReport as FileReport
from nonfinite.report import Report as Report
from nonfinite.report import TensorReport as TensorReport
