"""cocite spark: jobs for a cluster, or for this machine."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from cocite.cli.terminal import Screen, seconds
from cocite.cli.views.store import show_reasons
from cocite.operations import shared
from cocite.operations.declare import operation
from cocite.operations.store.build import SourceFormat
from cocite.operations.task import Facts, Task
from cocite.parameters import parameter
from cocite.text import count


@dataclass(frozen=True, kw_only=True)
class SparkJob(Task):
    """A job of Spark: where to write, and where to run."""

    shows_itself = True
    interrupted = "Interrupted; finished steps are kept, and the same command continues from there"
    output: str = parameter(
        "", "A folder to make, here or in object storage", metavar="PLACE", flags=("--output", "-o"), required=True
    )
    master: str = parameter(
        "", "Where to run: local[4], yarn, k8s://…; by default this machine, or spark-submit's", metavar="URL"
    )
    conf: tuple[str, ...] = parameter((), "A setting of Spark, such as spark.executor.memory=4g", metavar="KEY=VALUE")

    def job(self, write: Callable[..., Any], *arguments: Any, **options: Any) -> Facts:
        """Run a job in its own session. Return its facts, and the seconds it took."""
        from cocite.spark.session import parse_settings, plain_failures, start

        errors = Screen(stderr=True)
        session = start(self.about.name.removeprefix("spark "), self.master or None, parse_settings(self.conf))
        started = time.monotonic()

        def on_step(step: str) -> None:
            errors.line((f"{seconds(time.monotonic() - started)}: {step}", "dim"))

        try:
            with plain_failures():
                done = write(session, *arguments, **options, on_step=on_step)
        finally:
            session.stop()
        return Facts({**done, "seconds": round(time.monotonic() - started, 3), "output": self.output})

    def in_words(self, facts: Facts) -> str:
        """What was made."""
        raise NotImplementedError


@operation(name="spark pages", store=False)
class SparkPages(SparkJob, SourceFormat):
    """Read sources into page records, one task per file, with the readers of cocite build.

    The records are the input of cocite spark store, or of cocite build.

    Examples:
        cocite spark pages crawl/*.warc.gz -o pages.parquet
        cocite spark pages --list wat.paths.gz --prefix s3://commoncrawl/ -o s3a://mine/pages
    """

    sources: tuple[str, ...] = parameter(
        (), "Files, folders, or addresses of them in object storage", metavar="SOURCE", positional=True
    )
    listed: str = parameter(
        "", "A file of more sources, one per line; may be gzipped", metavar="FILE", flags=("--list",)
    )
    prefix: str = parameter("", "Prefix of each line of --list", metavar="TEXT")
    text: bool = parameter(True, "Keep the texts of pages", flags=("--text/--no-text",))

    def do(self, progress: object) -> Facts:
        from cocite.spark.pages import check_sources, read_list, write_pages

        wanted = [*self.sources, *(read_list(self.listed, self.prefix) if self.listed else [])]
        base, kind = self.base or None, self.kind or None
        check_sources(wanted, kind)
        return self.job(write_pages, wanted, self.output, base=base, kind=kind, text=self.text, strict=self.strict)

    def in_words(self, facts: Facts) -> str:
        return ", ".join(count(facts["read"][f"{unit}s"], unit) for unit in ("record", "link", "source"))


@operation(name="spark store", store=False)
class SparkStore(SparkJob):
    """Number pages and sort links in both directions, into sorted Parquet files: pages, out and in.

    Numbers and links are the same as those of cocite build. If it is interrupted, the same command continues after the
    last finished step.

    Examples:
        cocite spark store pages.parquet -o shards
        cocite spark store s3a://mine/pages -o s3a://mine/shards --master yarn
    """

    records: str = parameter("", "A Parquet folder of page records", metavar="RECORDS", positional=True, required=True)

    def do(self, progress: object) -> Facts:
        from cocite.spark.outputs import check_records
        from cocite.spark.store import write_store

        check_records(self.records, self.master or None)
        return self.job(write_store, self.records, self.output)

    def in_words(self, facts: Facts) -> str:
        return f"{count(facts['pages'], 'page')}, {count(facts['links'], 'link')}"


@dataclass(frozen=True, kw_only=True)
class ShardsJob(SparkJob):
    """A job that reads shards."""

    shards: str = parameter("", "The output of cocite spark store", metavar="SHARDS", positional=True, required=True)


@operation(name="spark rank", store=False)
class SparkRank(ShardsJob):
    """Rank all pages by their links. Rows are number, url and value.

    Examples:
        cocite spark rank shards -o pagerank
        cocite spark rank shards -o hubs --by "hubrank(transposed=true)"
    """

    by: str = parameter("pagerank", "pagerank or hubrank; parameters as in hubrank(bias=authorities)", metavar="RANK")

    def do(self, progress: object) -> Facts:
        from cocite.spark.outputs import check_shards
        from cocite.spark.rank import check, write_rank

        check(self.by)
        check_shards(self.shards, self.master or None)
        return self.job(write_rank, self.shards, self.output, self.by)

    def in_words(self, facts: Facts) -> str:
        rounds = f"{count(facts['rounds'], 'round')}, residual {facts['residual']:.1e}"
        return f"{count(facts['pages'], 'page')}, {rounds}"

    def warnings(self, web: Any, result: Facts) -> Iterable[str]:
        call = f'--by "{self.by.partition("(")[0]}(rounds=1000)"'
        return () if result["converged"] else [f"The tolerance was not reached: allow more rounds, as in {call}"]


@operation(name="spark related", store=False)
class SparkRelated(ShardsJob):
    """Find the related pages of every page, like cocite batch. Rows are query, rank, url and score.

    If it is interrupted, the same command continues after the last finished step.

    Examples:
        cocite spark related shards -o related
        cocite spark related shards -o related -m "extended_cocitation(parents=100)" -k 20
    """

    method: str = shared.method("cocitation", "cocitation, proximity or extended_cocitation, with parameters")
    k: int = parameter(10, "Maximum number of results of each page", flags=("-k",))

    def do(self, progress: object) -> Facts:
        from cocite.results.ask import check_k
        from cocite.spark.outputs import check_shards
        from cocite.spark.related import check, write_related

        check(self.method)
        check_k(self.k)
        check_shards(self.shards, self.master or None)
        return self.job(write_related, self.shards, self.output, self.method, self.k)

    def in_words(self, facts: Facts) -> str:
        return f"{count(facts['answers'], 'result')} for {count(facts['pages'], 'page')}"


def show_job(screen: Screen, asked: SparkJob, result: Facts) -> None:
    """What a job made, and what it skipped."""
    screen.line((asked.output, "bold"), f"  {asked.in_words(result)} in {seconds(result['seconds'])}")
    if result.get("skipped"):
        hint = " (--strict stops at the first)" if isinstance(asked, SparkPages) else ""
        screen.line(("skipped", "yellow"), (hint, "dim"), indent=2)
        show_reasons(screen, result["skipped"], result["example"])
