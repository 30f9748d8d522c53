"""Files as people have them: keys that look like numbers, lines, other formats, odd names."""

import bz2
import gzip
import io
import lzma
import os
import pickle
import re
import shutil
import subprocess
import threading
import zipfile

import numpy as np
import pytest

pytest.importorskip("polars")
pytest.importorskip("typer")

from commands import COLUMNS, GAMES, found, here, lxcim, pl

import lxcim_xp as lx
from lxcim_xp import frames

# Texts that numbers would merge, and the order in which people look for them.
KEYS = ["-3", "0", "00", "01", "1", "1.0", "2", "10", "01234", "1234", "12345678901234567890"]
KEYS += ["12345678901234567891", "12345678901234567892.0"]


def keyed(keys, rows=4):
    """Return predictions whose keys are text, each of so many rows, in a random order."""
    rng = np.random.default_rng(3)
    n = rows * len(keys)
    label = rng.integers(0, 2, n)
    return pl.DataFrame(
        {
            "won": label,
            "a": (2 * label - 1 + 2 * rng.normal(size=n)).round(2),
            "b": rng.normal(size=n).round(2),
            "k": rng.permutation(np.repeat(keys, rows)),
        }
    )


SEPARATORS = {"csv": ",", "tsv": "\t", "semicolons.csv": ";"}


@pytest.mark.parametrize("engine", ["memory", "bounded"])
@pytest.mark.parametrize("quoted", ["necessary", "always"])
@pytest.mark.parametrize("ending", SEPARATORS)
def test_keys_of_text_are_text_in_the_order_of_numbers(tmp_path, ending, quoted, engine):
    path, table = tmp_path / f"keyed.{ending}", keyed(KEYS)
    table.write_csv(path, separator=SEPARATORS[ending], quote_style=quoted)
    columns = ["--label", "won", "--score", "a", "--by", "k", "--interval", "0"]
    rows = found("evaluate", path, *columns, "--engine", engine)
    assert [(row["k"], row["n"]) for row in rows] == [(key, 4) for key in KEYS]
    expected = frames.accuracy(table, label="won", score="a", by="k")
    for row in rows:
        assert row["accuracy"] == expected.filter(pl.col("k") == row["k"])["accuracy"].item()


def test_whether_keys_merge_depends_on_no_other_row(tmp_path):
    path = tmp_path / "keyed.csv"
    for more in ([], ["x"], ["1.5"], [""]):
        keyed(["01234", "1234", *more]).write_csv(path)
        rows = found("evaluate", path, "--label", "won", "--score", "a", "--by", "k")
        assert {row["k"] for row in rows} == {"01234", "1234", *(each or None for each in more)}


def test_words_among_keys_sort_as_words(tmp_path):
    keyed(["10", "2", "x", "nan"]).write_csv(tmp_path / "keyed.csv")
    rows = found("evaluate", tmp_path / "keyed.csv", "--label", "won", "--score", "a", "--by", "k")
    assert [row["k"] for row in rows] == ["10", "2", "nan", "x"]


def test_keys_with_spaces_are_their_own(tmp_path):
    (tmp_path / "keyed.csv").write_text('won,a,k\n1,2,1\n0,1, 1\n1,1,"1 "\n0,2,"1"\n')
    rows = found("evaluate", tmp_path / "keyed.csv", "--label", "won", "--score", "a", "--by", "k")
    assert sorted((row["k"], row["n"]) for row in rows) == [(" 1", 1), ("1", 2), ("1 ", 1)]


def test_clusters_of_text_do_not_merge(tmp_path):
    table = keyed([f"{'0' * (i % 2)}{i // 2}" for i in range(30)])
    table.write_csv(tmp_path / "keyed.csv")
    clusters = pl.Series(table["k"]).rank("dense").to_numpy().astype(int)
    assert len(set(clusters)) == 30
    label, a, b = (table[name].to_numpy() for name in ("won", "a", "b"))
    columns = ("--label", "won", "--score", "a", "--groups", "k")
    (row,) = found("evaluate", tmp_path / "keyed.csv", *columns, "--metric", "lxcim")
    expected = lx.interval(label, a, groups=clusters)
    assert (row["lxcim_low"], row["lxcim_high"]) == pytest.approx((expected.low, expected.high))
    (row,) = found("compare", tmp_path / "keyed.csv", *columns, "--score", "b")
    assert row["p_value"] == pytest.approx(lx.compare(label, a, b, groups=clusters).p_value)


def test_every_command_keeps_keys_apart(capfd, tmp_path, monkeypatch):
    pytest.importorskip("jinja2")
    monkeypatch.chdir(tmp_path)
    keyed(["10", "2", "02", "2.0"], rows=20).write_csv("keyed.csv")
    columns = ["keyed.csv", "--label", "won", "--score", "a", "--score", "b", "--by", "k"]
    order = ["02", "2", "2.0", "10"]
    assert [row["k"] for row in found("compare", *columns, cwd=tmp_path)] == order
    for command, output in (("curve", "points.csv"), ("curve", "c.svg"), ("report", "page.html")):
        assert here(capfd, command, *columns, "-o", output)[0] == 0
    points = pl.read_csv("points.csv", schema_overrides={"k": pl.String})
    assert points["k"].unique(maintain_order=True).to_list() == order
    drawn, page = ((tmp_path / name).read_text() for name in ("c.svg", "page.html"))
    for key in order:
        assert f"<!-- a, {key} (" in drawn
        assert f">{key}<" in page


def test_a_column_of_labels_is_numbers_also_as_a_key(tmp_path):
    (tmp_path / "keyed.csv").write_text("won,a\n1,2\n1.0,1\n0,-1\n00,1\n")
    rows = found(
        "evaluate", tmp_path / "keyed.csv", "--label", "won", "--score", "a", "--by", "won"
    )
    assert [row["n"] for row in rows] == [2, 2]


@pytest.mark.parametrize("form", ["parquet", "jsonl", "json"])
def test_long_ids_are_keys_in_every_format(capfd, tmp_path, form):
    ids = pl.Series([12345678901234567890 + i // 3 for i in range(12)], dtype=pl.Int128)
    table = keyed(["x", "y", "z"]).with_columns(id=ids)
    path = tmp_path / f"long.{form}"
    write = {"parquet": table.write_parquet, "jsonl": table.write_ndjson, "json": table.write_json}
    write[form](path)
    columns = ["--label", "won", "--score", "a"]
    rows = found("evaluate", path, *columns, "--by", "id", "--interval", "0")
    assert [row["id"] for row in rows] == [str(12345678901234567890 + i) for i in range(4)]
    for part in (["--groups", "id"], ["--by", "id", "--engine", "bounded"], ["--score", "id"]):
        code, _, told = here(capfd, "evaluate", path, *columns, *part)
        assert code == 0, told


def archive(name, content):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as file:
        file.writestr(name, content)
    return out.getvalue()


def in_bytes(write):
    out = io.BytesIO()
    write(out)
    return out.getvalue()


TEXT = GAMES.write_csv()
OTHERS = {
    "workbook": (archive("[Content_Types].xml", "<Types/>"), "Save the sheet as CSV"),
    "old workbook": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(500), "Save the sheet as CSV"),
    "zip": (archive("games.csv", TEXT), "unzip -p"),
    "zstd": (b"\x28\xb5\x2f\xfd\x04\x00" + bytes(range(200)), "zstd -dc"),
    "bzip2": (bz2.compress(TEXT.encode()), "bzip2 -dc"),
    "xz": (lzma.compress(TEXT.encode()), "xz -dc"),
    "UTF-16": (TEXT.encode("utf-16"), "iconv -f UTF-16 -t UTF-8"),
    "UTF-16 big": (b"\xfe\xff" + TEXT.encode("utf-16-be"), "iconv -f UTF-16 -t UTF-8"),
    "UTF-16 unmarked": (TEXT.encode("utf-16-le"), "iconv -f UTF-16LE -t UTF-8"),
    "UTF-16 big, unmarked": (TEXT.encode("utf-16-be"), "iconv -f UTF-16BE -t UTF-8"),
    "UTF-16 in gzip": (gzip.compress(TEXT.encode("utf-16")), "| iconv -f UTF-16 -t UTF-8 |"),
    "zstd in gzip": (gzip.compress(b"\x28\xb5\x2f\xfd" + bytes(range(200))), "| zstd -dc |"),
    "gzip in gzip": (gzip.compress(gzip.compress(TEXT.encode())), "gzip -dc"),
    "Parquet in gzip": (gzip.compress(in_bytes(GAMES.write_parquet)), "gzip -dc"),
    "old Mac": (TEXT.replace("\n", "\r").encode(), "tr '\\r' '\\n'"),
    "OpenDocument": (
        archive("mimetype", "application/vnd.oasis.opendocument.spreadsheet"),
        "Save the sheet as CSV",
    ),
    "UTF-32": (TEXT.encode("utf-32"), "iconv -f UTF-32 -t UTF-8"),
    "pickle": (pickle.dumps({"won": [1]}, protocol=4), "is a Python pickle"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(100), "is an HDF5 file"),
    "SQLite": (b"SQLite format 3\x00" + bytes(100), "Export the table"),
    "page": (b"<!DOCTYPE html><html></html>", "is an HTML or XML page"),
    "half gzip": (gzip.compress(TEXT.encode())[:40], "not a whole gzip file"),
    "latin": (TEXT.replace("season", "sais\xf6n").encode("latin1"), "iconv -f latin1"),
}


@pytest.mark.parametrize("name", ["games.csv", "games.xlsx", "games.json", "games", "-"])
@pytest.mark.parametrize("kind", OTHERS)
def test_other_formats_are_recognised_whatever_their_name(capfd, tmp_path, monkeypatch, kind, name):
    content, remedy = OTHERS[kind]
    if (kind, name) == ("latin", "games.json"):
        remedy = "cannot be read as JSON"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "games").write_bytes(content)
    if name == "-":
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content)))
    else:
        (tmp_path / "games").rename(name)
    code, out, told = here(capfd, "evaluate", name, *COLUMNS)
    assert (code, out) == (1, "")
    assert remedy in told
    assert ("latin1" in told) == (kind == "latin" and name != "games.json")


@pytest.mark.parametrize(
    "kind",
    [
        kind
        for kind, (_, remedy) in OTHERS.items()
        if (" -" in remedy or "tr " in remedy) and kind not in ("zstd", "zstd in gzip", "latin")
    ],
)
def test_what_is_advised_helps(capfd, tmp_path, monkeypatch, kind):
    content, _ = OTHERS[kind]
    (tmp_path / "my games").write_bytes(content)
    monkeypatch.chdir(tmp_path)
    _, _, told = here(capfd, "evaluate", "my games", *COLUMNS)
    advice = re.search(r"\w+ it: (.*) \| lxcim evaluate - \.\.\.", told).group(1)
    if not all(shutil.which(step.split()[0]) for step in advice.split(" | ")):
        pytest.skip("a tool that is advised is not installed")
    made = subprocess.run(advice, shell=True, check=True, capture_output=True).stdout
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(made)))
    code, out, told = here(capfd, "evaluate", "-", *COLUMNS, "--format", "csv")
    assert code == 0, told
    assert pl.read_csv(out.encode())["n"].item() == 6


@pytest.mark.parametrize("name", ["games.csv", "games.json", "games.txt"])
def test_tables_under_a_wrong_ending_are_read(tmp_path, name):
    for write in (GAMES.write_parquet, GAMES.write_ipc, GAMES.write_ipc_stream):
        write(tmp_path / name)
        (row,) = found("evaluate", tmp_path / name, *COLUMNS, "--interval", "0")
        assert row["n"] == 6
    GAMES.write_ndjson(tmp_path / name)
    assert found("evaluate", tmp_path / name, *COLUMNS)[0]["n"] == 6


@pytest.mark.parametrize("header", ["PAR1", "ORCID", "BZh", "PK", "{a}", "[a]"])
def test_a_header_may_begin_like_another_format(tmp_path, header):
    (tmp_path / "games.csv").write_text(f"{header},margin\n1,2\n0,-1\n")
    (row,) = found("evaluate", tmp_path / "games.csv", "--label", header, "--score", "margin")
    assert row["n"] == 2


COLUMN_ORIENTED = {
    "lists": '{"won": [1, 0], "margin": [1.5, -1]}',
    "of pandas": '{"won": {"0": 1, "1": 0}, "margin": {"0": 1.5, "1": -1}}',
    "written wide": '{\n  "won": [1, 0],\n  "margin": [1.5, -1]\n}\n',
    "lists in a list": "[[1, 1.5], [0, -1]]",
    "numbers among rows": '[{"won": 1, "margin": 1.5}, 3]',
    "not a number": '[{"won": 1, "margin": NaN}]',
    "in an object": '{"data": [{"won": 1, "margin": 1.5}]}',
}


@pytest.mark.parametrize("name", ["games.json", "games"])
@pytest.mark.parametrize("case", COLUMN_ORIENTED)
def test_json_that_is_not_made_of_rows_is_refused(capfd, tmp_path, case, name):
    path = tmp_path / name
    path.write_text(COLUMN_ORIENTED[case])
    code, out, told = here(capfd, "evaluate", path, *COLUMNS)
    assert (code, out) == (1, "")
    assert "one object for each row" in told


@pytest.mark.parametrize("ending", ["json", "jsonl"])
@pytest.mark.parametrize("content", ["[]", "{}", "[{}]"])
def test_json_without_a_value_has_no_rows(capfd, tmp_path, content, ending):
    path = tmp_path / f"games.{ending}"
    path.write_text(content)
    code, _, told = here(capfd, "evaluate", path, *COLUMNS)
    assert code == 1
    assert "has no rows" in told


NESTED = {
    "durations": pl.duration(hours=pl.col("won")),
    "dates with times": pl.datetime(2020, 1, pl.col("won") + 1),
    "objects": pl.struct("won", "margin"),
    "lists": pl.concat_list("won", "margin"),
    "dates": pl.date(2020, 1, pl.col("won") + 1),
    "binary": pl.col("season").fill_null("").cast(pl.Binary),
}


@pytest.mark.parametrize("command", ["evaluate", "bounded", "compare", "report"])
@pytest.mark.parametrize(
    "option", ["--label", "--score", "--margin", "--weight", "--by", "--groups"]
)
@pytest.mark.parametrize("kind", NESTED)
def test_columns_of_odd_types_are_refused_or_read(capfd, tmp_path, kind, option, command):
    path = tmp_path / "odd.parquet"
    table = GAMES.with_columns(odd=NESTED[kind], other=pl.col("margin") + 1)
    table.write_parquet(path)
    first = "evaluate" if command == "bounded" else command
    given = {"--label": "won", "--score": "margin"} | {option: "odd"}
    if option == "--margin":
        given = {"--margin": "odd"}
    words = [word for pair in given.items() for word in pair]
    if command == "compare":
        words += ["--margin" if option == "--margin" else "--score", "other"]
    if command == "report":
        words += ["-o", tmp_path / "page.html"]
    if command == "bounded" and option != "--groups":
        words += ["--engine", "bounded"]
    code, _, told = here(capfd, first, path, *words)
    if option in ("--by", "--groups") and kind not in ("objects", "lists"):
        assert code == 0, told
    else:
        assert code == 1
        assert f"{option} 'odd' must hold" in told


def test_a_pipe_is_read_once(capfd, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for content in (TEXT.encode(), gzip.compress(TEXT.encode())):
        writer = threading.Thread(target=(tmp_path / "pipe").write_bytes, args=(content,))
        writer.start()
        code, out, told = here(capfd, "evaluate", tmp_path / "pipe", *COLUMNS, "-f", "csv")
        writer.join()
        assert code == 0, told
        assert pl.read_csv(out.encode())["n"].item() == 6


SENTENCES = {
    "several files": (["games.csv", "more.csv", "yet.csv"], 2, "one at a time; found also"),
    "a folder of CSV": (["folder"], 1, "must hold Parquet files and nothing else"),
    "an empty folder": (["nothing"], 1, "must hold Parquet files and nothing else"),
    "duplicate headers": (["twice.csv"], 1, "the header has 'margin' 2 times, in columns 2, 3"),
    "decimal commas": (["commas.csv"], 1, "Write decimals with a point"),
    "thousands": (["thousands.csv"], 1, "Write decimals with a point"),
    "unquoted commas": (["ragged.csv"], 1, "write decimals with a point"),
    "other separators": (["bars.csv"], 2, "separated by commas, tabs or semicolons"),
    "no name": ([""], 2, "its name is empty"),
    "a name of the reader": (["twice.csv"], 2, "'margin_duplicated_0' is not a column"),
    "a pattern": (["pattern.csv"], 2, "is read as a pattern"),
}


@pytest.mark.parametrize("case", SENTENCES)
def test_what_people_try_gets_a_sentence_that_helps(capfd, tmp_path, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "nothing").mkdir()
    for name, text in {
        "folder/games.csv": TEXT,
        "games.csv": TEXT,
        "twice.csv": "won,margin,margin\n1,2,3\n",
        "bars.csv": TEXT.replace(",", "|"),
        "commas.csv": "won;margin\n1;2,5\n0;-1,5\n",
        "thousands.csv": 'won,margin\n1,"1,234.5"\n',
        "ragged.csv": "won,margin\n1,2,5\n0,-1,5\n",
        "pattern.csv": "won,*,margin\n1,2,5\n0,-1,5\n",
    }.items():
        (tmp_path / name).write_text(text)
    files, ends, sentence = SENTENCES[case]
    score = {"a pattern": "*", "a name of the reader": "margin_duplicated_0"}.get(case, "margin")
    columns = ("--label", "won", "--score", score)
    code, out, told = here(capfd, "evaluate", *files, *columns)
    assert (code, out) == (ends, "")
    assert sentence in told


def test_a_column_named_twice_is_no_matter_where_it_is_not_needed(tmp_path):
    (tmp_path / "twice.csv").write_text("note,won,margin,note\nx,1,2,y\nx,0,-1,y\n")
    (row,) = found("evaluate", tmp_path / "twice.csv", *COLUMNS)
    assert row["n"] == 2


LINES = {
    "plain": b"won,margin\n1,2\n0,1\n1,x\n",
    "windows": b"won,margin\r\n1,2\r\n0,1\r\n1,x\r\n",
    "quoted": b'note,won,margin\n"two\nlines",1,2\n0,x,2\n',
    "after blanks": b"\n\nwon,margin\n1,x\n",
    "blank": b"won,margin\n1,2\n\n1,x\n",
    "marked": b"\xef\xbb\xbfwon;margin\n1;1\n1;1\n1;x\n",
    "last": b"won,margin\n" + b"1,2\n" * 14_998 + b"1,x",
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("case", LINES)
def test_messages_name_the_line_of_a_text(capfd, tmp_path, case, packed):
    content = LINES[case]
    if case == "quoted":
        content = content.replace(b"0,x,2", b"n,1,x")
    line = content.replace(b"\r\n", b"\n").split(b"x", 1)[0].count(b"\n") + 1
    path = tmp_path / ("lines.csv.gz" if packed else "lines.csv")
    # As text in a column of numbers, as a label that is none, and as a missing score.
    for found_there in (b"x", b"", b"inf"):
        text = content.replace(b",x", b"," + found_there).replace(b";x", b";" + found_there)
        if found_there == b"inf":
            text = text.replace(b"margin", b"weight", 1)
        path.write_bytes(gzip.compress(text) if packed else text)
        score = "weight" if found_there == b"inf" else "margin"
        weight = ["--weight", "weight"] if found_there == b"inf" else []
        missing = ["--missing", "omit"] if case == "blank" and found_there != b"" else []
        code, _, told = here(
            capfd, "evaluate", path, "--label", "won", "--score", score, *weight, *missing
        )
        assert code == 1
        at = line - 1 if case == "blank" and found_there == b"" else line
        assert f"in line {at}." in told


def test_messages_name_the_line_of_json_lines(capfd, tmp_path):
    path = tmp_path / "lines.jsonl"
    path.write_text('{"won":1,"margin":2}\n\n{"won":7,"margin":1}\n')
    assert "found 7 in line 3." in here(capfd, "evaluate", path, *COLUMNS)[2]
    GAMES.with_columns(won=7).write_parquet(tmp_path / "rows.parquet")
    assert "found 7 in row 0." in here(capfd, "evaluate", tmp_path / "rows.parquet", *COLUMNS)[2]


@pytest.mark.parametrize("kind", ["durations", "binary", "dates", "dates with times"])
def test_keys_of_odd_types_can_be_written(capfd, tmp_path, kind):
    path, points = tmp_path / "odd.parquet", tmp_path / "points.csv"
    GAMES.with_columns(odd=NESTED[kind], other=pl.col("margin") + 1).write_parquet(path)
    columns = [*COLUMNS, "--by", "odd"]
    for command, more in (("evaluate", []), ("compare", ["--score", "other"])):
        code, out, told = here(capfd, command, path, *columns, *more, "--format", "csv")
        assert code == 0, told
        assert pl.read_csv(out.encode())["odd"].n_unique() > 1
    code, _, told = here(capfd, "curve", path, *columns, "-o", points)
    assert code == 0, told
    assert pl.read_csv(points)["odd"].n_unique() > 1


STEERING = [
    "\x1b[31mred",
    "two\nlines",
    "back\rspace\b",
    "\u202egnp",
    "\x9b2J",
    "tab\there",
    "a\x00",
]
STEERING += ["\u2066x\u2069", "\u2028", "\ufeffx", ":smile:", "[bold]x", "a\\|b"]


@pytest.mark.parametrize("form", ["table", "markdown"])
@pytest.mark.parametrize("command", ["evaluate", "compare"])
def test_names_and_values_do_not_steer_a_terminal(capfd, tmp_path, form, command):
    path = tmp_path / "odd.parquet"
    rows = pl.DataFrame(
        {
            "won": [1, 0] * len(STEERING),
            "m\x1b[2J": [1.0, 2.0] * len(STEERING),
            "n\u202e": [2.0, -1.0] * len(STEERING),
            "k\n": np.repeat(STEERING, 2),
        }
    )
    rows.write_parquet(path)
    columns = ["--label", "won", "--score", "m\x1b[2J", "--score", "n\u202e", "--by", "k\n"]
    code, out, told = here(capfd, command, path, *columns, "--format", form)
    assert code == 0, told
    steering = [sign for sign in out if not sign.isprintable() and sign != "\n"]
    assert steering == []
    times = 2 if command == "evaluate" else 1
    assert out.count("\n") == 2 + times * len(STEERING)
    for shown in (r"\x1b[31mred", r"two\nlines", r"\u202egnp", r"\x9b2J", ":smile:", "[bold]x"):
        assert (shown.replace("\\", "\\\\") if form == "markdown" else shown) in out


def test_figures_show_any_name(capfd, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "odd.parquet"
    names = [*STEERING, "東京", "x" * 3000, "<b>&amp;"]
    rows = {"won": [1, 0], **{name: [1.0 + i, 2.0] for i, name in enumerate(names)}}
    pl.DataFrame(rows).write_parquet(path)
    for ending in ("png", "svg", "pdf"):
        for given, lacking in ((names, 1), ([name for name in names if name != "東京"], 0)):
            columns = ["--label", "won", *(f"--score={name}" for name in given)]
            code, _, told = here(capfd, "curve", path, *columns, "-o", tmp_path / f"c.{ending}")
            assert code == 0, told
            assert told.count("The font of the figure") == lacking
            assert told.strip().isprintable()


def test_words_of_every_script_stay_as_they_are(capfd, tmp_path):
    # Joiners are part of Persian words and of pictures.
    words = ["\u0645\u06cc\u200c\u062e\u0648\u0627", "👩\u200d🔬", "naïve", "東京", "a\u00a0b"]
    path = tmp_path / "words.parquet"
    pl.DataFrame({"m": [1.0] * len(words), "k": words}).write_parquet(path)
    _, out, _ = here(capfd, "evaluate", path, "--margin", "m", "--by", "k")
    for word in words:
        assert word in out


def test_names_of_files_do_not_steer_a_terminal(tmp_path):
    name = "games\x1b[31m\u202e.csv"
    (tmp_path / name).write_text("won,margin\n1,x\n")
    (tmp_path / "good.csv").write_text(TEXT)
    bad = lxcim("evaluate", name, *COLUMNS, cwd=tmp_path)
    wrote = lxcim("curve", "good.csv", *COLUMNS, "-o", "c\x1b[31m.csv", cwd=tmp_path)
    several = lxcim("evaluate", "good.csv", name, *COLUMNS, cwd=tmp_path)
    assert (bad.returncode, wrote.returncode, several.returncode) == (1, 0, 2)
    for run in (bad, wrote, several):
        assert "\x1b" not in run.stderr
        assert "\u202e" not in run.stderr
        assert r"\x1b[31m" in run.stderr


MODULES = {
    "that raises": ("raise RuntimeError('no')", "cannot be imported: RuntimeError: no"),
    "that ends": ("raise SystemExit(3)", "cannot be imported: SystemExit: 3"),
    "of bad syntax": ("def f(:", "cannot be imported: SyntaxError"),
    "that needs another": ("import not_there_at_all", "No module named 'not_there_at_all'"),
    "without it": ("x = 1", "has no 'f'"),
    "with a number": ("f = 1", "is not a function"),
}


@pytest.mark.parametrize("case", MODULES)
def test_a_module_that_cannot_be_audited_is_bad_usage(tmp_path, case):
    source, message = MODULES[case]
    (tmp_path / "mine.py").write_text(source)
    run = lxcim("audit", "mine:f", cwd=tmp_path)
    assert (run.returncode, run.stdout) == (2, "")
    assert message in " ".join(run.stderr.replace("│", " ").split())


def test_a_metric_that_fails_is_said_in_a_sentence(tmp_path):
    (tmp_path / "mine.py").write_text("def f(y, s): return {}['a']")
    run = lxcim("audit", "mine:f", cwd=tmp_path)
    assert run.returncode == 1
    assert "KeyError" in run.stderr


def test_a_file_here_takes_the_place_of_no_library(tmp_path):
    for name in ("scipy", "statistics", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('ran the file here')")
    (tmp_path / "mine.py").write_text(
        "import statistics\ndef f(y, s): return statistics.fmean((s > 0) == y)"
    )
    run = lxcim("audit", "mine:f", "--law", "permutation", cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert "holds" in run.stdout
    other = lxcim("audit", "statistics:nothing", cwd=tmp_path)
    assert "has no 'nothing'" in other.stderr
