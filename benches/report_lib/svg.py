"""A little SVG: lines, dots and text."""

from html import escape

FONT = "DejaVu Sans, Helvetica, Arial, sans-serif"
INK, FAINT, GRID = "#222222", "#666666", "#dddddd"


class Svg:
    def __init__(self, width, height):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
            f'viewBox="0 0 {width} {height}" font-family="{FONT}">',
            # Pages may be dark.
            f'<rect width="{width}" height="{height}" fill="white"/>',
        ]

    def text(self, x, y, text, size=12, anchor="start", color=INK, bold=False):
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" '
            f'fill="{color}"{weight}>{escape(text)}</text>'
        )

    def line(self, points, color, width=2.0, dashes=""):
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{color}" '
            f'stroke-width="{width}"{dashed}/>'
        )

    def dot(self, x, y, color, radius=3.5):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}"/>')

    def __str__(self):
        return "\n".join([*self.parts, "</svg>"]) + "\n"
