"""What a user can cause ends with one line and exit status 2."""

import errno
import os
import subprocess
import sys

import click
import pytest

from rarefy.cli._errors import guarded, one_line


def raising(error):
    def command(state):
        raise error

    return command


ERRORS = [
    (ValueError("a\n  b   c"), "rarefy: error: a b c\n"),
    (FileNotFoundError(errno.ENOENT, "No such file or directory", "x.svm"),
     "rarefy: error: x.svm: No such file or directory\n"),
    (OSError("the archive ends early"), "rarefy: error: the archive ends early\n"),
    (NotImplementedError(), "rarefy: error: NotImplementedError\n"),
    (MemoryError(), "rarefy: error: out of memory\n"),
    (click.UsageError("no such option"), "rarefy: error: no such option\n"),
    (click.BadParameter("two\nlines"), "rarefy: error: Invalid value: two lines\n"),
]  # fmt: skip


@pytest.mark.parametrize(("error", "text"), ERRORS)
def test_user_errors_are_one_line_and_status_2(capsys, error, text):
    assert guarded(raising(error)) == 2
    assert capsys.readouterr().err == text


def test_debug_shows_the_traceback(capsys):
    def command(state):
        state["debug"] = True
        raise ValueError("wrong")

    assert guarded(command) == 2
    err = capsys.readouterr().err
    assert "Traceback" in err
    assert err.endswith("rarefy: error: wrong\n")


def test_our_own_mistakes_show_a_traceback_and_status_1(capsys):
    assert guarded(raising(AssertionError("impossible"))) == 1
    err = capsys.readouterr().err
    assert "Traceback" in err and "impossible" in err
    assert err.endswith("please report\n")


def test_interrupt_before_anything_is_saved(capsys):
    assert guarded(raising(KeyboardInterrupt())) == 130
    assert "nothing was saved" in capsys.readouterr().err


@pytest.mark.parametrize(("result", "status"), [(None, 0), (0, 0), (7, 7)])
def test_status_of_the_command_is_passed_on(result, status):
    assert guarded(lambda state: result) == status


def test_one_line_without_text_names_the_kind():
    assert one_line(EOFError()) == "EOFError"


# Arguments that are wrong, and what the one line must say.
CALLS = [
    (["train"], "TRAIN"),
    (["train", "absent.svm"], "absent.svm: No such file"),
    (["train", "clicks.svm", "--lr", "0"], "lr must be finite and more than 0"),
    (["train", "clicks.svm", "--lr", "nan"], "lr must be finite"),
    (["train", "clicks.svm", "--lr", "fast"], "'fast' is not a valid float"),
    (["train", "clicks.svm", "--l1", "0.1"], "ftrl"),
    (["train", "clicks.svm", "--factors", "4"], "factors must be positive for a factorization"),
    (["train", "clicks.svm", "--hidden", "4"], "hidden and dropout are of models with a network"),
    (["train", "clicks.svm", "--model", "widedeep", "--hidden", "4,x"], "hidden must be sizes of"),
    (["train", "clicks.svm", "--model", "deepfm", "--dropout", "1"], "dropout must be less than 1"),
    (["train", "mixed.svm", "--model", "mf", "--normalize", "l2"], "nothing to normalize"),
    (["train", "clicks.svm", "--model", "mf"], "clicks.svm: row 1 has"),
    (["train", "mixed.svm", "--model", "mf"], "column 2 is the first of a row and column 2 the second"),
    (["train", "mixed.svm", "--model", "mf", "--users", "1"], "row 2 has the columns 2 and 3"),
    (["train", "pairs.svm", "--model", "mf", "--users", "3"], "row 1 has the columns 1 and 3"),
    (["train", "pairs.svm", "--model", "mf", "--items", "1"], "pairs.svm:2:7: found '4:1', expected"),
    (["train", "pairs.svm", "--model", "mf", "--features", "4", "--users", "4"], "4 users leave no"),
    (["train", "pairs.svm", "--model", "mf", "--features", "4", "--items", "4"], "4 items and 1"),
    (["train", "clicks.svm", "--users", "3"], "users and items are of a matrix factorization"),
    (["train", "clicks.svm", "--model", "deepfm", "--optimizer", "ftrl"], "a DeepFM is trained by"),
    (["train", "three.svm", "--model", "widedeep", "--loss", "softmax"], "a wide & deep model has one"),
    (["train", "clicks.svm", "--epochs", "0"], "--epochs"),
    (["train", "clicks.svm", "--loss", "hinge"], "hinge"),
    (["train", "clicks.svm", "--features", "7"], "clicks.svm:1:"),
    (["train", "clicks.svm", "--features", str(10**13)], "machine has"),
    (["train", "clicks.svm", "--valid", "absent.svm"], "absent.svm: No such file"),
    (["train", "clicks.svm", "--early-stop", "2"], "--valid"),
    (["train", "clicks.svm", "--resume", "--overwrite"], "one of them"),
    (["train", "--resume"], "TRAIN"),
    (["train", "--resume", "--out", "nothing"], "nothing has no checkpoint"),
    (["train", "-"], "standard input: training reads its rows several times"),
    (["train", "pipe"], "pipe: training reads its rows several times"),
    (["train", "clicks.svm", "--valid", "pipe"], "pipe: training reads its rows several times"),
    (["train", "clicks.svm", "--valid", "empty.svm"], "empty.svm: there are no rows"),
    (["train", "clicks.svm", "--valid", "zero.svm"], "zero.svm:1:3: found '0:1'"),
    (["train", "clicks.svm", "--valid", "three.svm"], "three.svm: row 2 has the label 3"),
    (["train", "clicks.svm", "--out", "clicks.svm"], "--out clicks.svm: that is a file"),
    (["train", "clicks.svm", "--out", "clicks.svm/run"], "clicks.svm/run: Not a directory"),
    (["train", "clicks.svm", "--out", ""], "--out: the name is empty"),
    (["train", "zero.svm", "--index-base", "1"], "index 0 occurs"),
    (["train", "junk.svm"], "junk.svm:2:3: found 'a:1'"),
    (["train", "empty.svm"], "no rows"),
    (["train", "same.svm"], "all labels are 1"),
    (["train", "clicks.svm", "--nonsense"], "--nonsense"),
    (["nonsense"], "nonsense"),
    (["predict", "nothing", "clicks.svm"], "model.json: there is no such file"),
    (["eval", "nothing", "clicks.svm"], "model.json: there is no such file"),
    (["inspect", "absent.svm"], "absent.svm: No such file"),
    (["inspect"], "FILE"),
]  # fmt: skip


@pytest.mark.parametrize(("arguments", "message"), CALLS)
def test_wrong_calls_are_explained(rarefy, clicks, tmp_path, arguments, message):
    (tmp_path / "zero.svm").write_text("1 0:1\n0 2:1\n")
    (tmp_path / "junk.svm").write_text("1 1:1\n0 a:1\n")
    (tmp_path / "empty.svm").write_text("# nothing\n")
    (tmp_path / "same.svm").write_text("1 1:1\n1 2:1\n")
    (tmp_path / "pairs.svm").write_text("1 1:1 3:1\n0 2:1 4:1\n")
    (tmp_path / "mixed.svm").write_text("1 1:1 2:1\n0 2:1 3:1\n")
    (tmp_path / "three.svm").write_text("1 1:1\n3 2:1\n")
    os.mkfifo(tmp_path / "pipe")  # nobody writes to it: opening it would wait for ever
    before = sorted(tmp_path.iterdir())
    status, _, err = rarefy(*arguments)
    assert status == 2
    assert err.startswith("rarefy: error: ")
    assert err.count("\n") == 1
    assert message in err
    assert sorted(tmp_path.iterdir()) == before, "nothing is left behind"


def test_debug_option_stands_before_or_after_the_command(rarefy):
    for arguments in (["--debug", "inspect", "absent"], ["inspect", "absent", "--debug"]):
        status, _, err = rarefy(*arguments)
        assert status == 2
        assert "Traceback" in err


def test_help_and_version(rarefy):
    assert "rarefy train FILE" in rarefy("--help")[1]
    assert rarefy("--version")[1].startswith("rarefy 0.")
    for command in ("train", "predict", "eval", "inspect", "demo"):
        status, out, _ = rarefy(command, "--help")
        assert status == 0
        assert "Usage:" in out


def test_closed_standard_output_is_no_error(clicks):
    script = 'exec "$0" -m rarefy.cli inspect "$1" >&-'
    command = ["sh", "-c", script, sys.executable, str(clicks)]
    done = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_full_disk_is_an_error(spawn, clicks):
    with open("/dev/full", "w") as full:
        process = spawn("inspect", clicks, stdout=full, stderr=subprocess.PIPE)
        assert process.stderr.read() == "rarefy: error: No space left on device\n"
        assert process.wait() == 2


def test_broken_pipe_is_silent(spawn, clicks):
    producer = spawn("inspect", clicks, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    producer.stdout.close()
    assert producer.stderr.read() == ""
    assert producer.wait() == 1
