"""Everything of pulumi's inside that the recorder leans on, in one place.

None of it is a public interface, so requirements.in pins pulumi exactly and `tests/offline/test_sdk.py` tries each
part by what it does. When an update breaks that test: read the failing part's new source (`pulumi/runtime/…`, named at
each import below), mend it here, and run `make test`; nothing else in this repository imports from `pulumi.runtime`.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import weakref
from collections.abc import Callable, Coroutine, Mapping
from concurrent.futures import Executor
from typing import Any, TypeVar, TypeVarTuple, cast

from google.protobuf import empty_pb2, struct_pb2
from pulumi.runtime import rpc
from pulumi.runtime._callbacks import _CallbackServicer
from pulumi.runtime.config import set_all_config
from pulumi.runtime.mocks import MockEngine, MockMonitor, Mocks
from pulumi.runtime.proto import alias_pb2, engine_pb2, provider_pb2, resource_pb2
from pulumi.runtime.settings import Settings, configure
from pulumi.runtime.stack import run_in_stack
from pulumi.runtime.sync_await import _sync_await

__all__ = [
    "RESOURCE_SIGNATURE",
    "SECRET_SIGNATURE",
    "SIGNATURES",
    "SIGNATURE_KEY",
    "UNKNOWN_SENTINEL",
    "MockEngine",
    "MockMonitor",
    "Mocks",
    "alias_pb2",
    "empty_pb2",
    "engine_pb2",
    "provider_pb2",
    "resource_pb2",
    "rpc",
    "run_program",
    "run_transform",
    "struct_pb2",
]

# pulumi/runtime/rpc.py: how the wire marks what JSON cannot say.
UNKNOWN_SENTINEL: str = rpc.UNKNOWN
SIGNATURE_KEY: str = rpc._special_sig_key
SECRET_SIGNATURE: str = rpc._special_secret_sig
RESOURCE_SIGNATURE: str = rpc._special_resource_sig
SIGNATURES: Mapping[str, str] = {
    rpc._special_asset_sig: "$asset",
    rpc._special_archive_sig: "$archive",
}


_T = TypeVar("_T")
_Arguments = TypeVarTuple("_Arguments")


class InlineLoop(asyncio.SelectorEventLoop):
    """An event loop whose executor is the loop itself.

    The SDK sends each request through `run_in_executor`. Done at once, requests arrive in the program's own order,
    tracebacks stay whole and no thread is started.
    """

    _calls = 0

    def __init__(self) -> None:
        """Keep the tasks of this loop: `asyncio.all_tasks` walks over those of every loop there was."""
        super().__init__()
        self._own: weakref.WeakSet[asyncio.Task[Any]] = weakref.WeakSet()
        self.set_task_factory(self._task)

    def _task(self, loop: asyncio.AbstractEventLoop, coroutine: Any, **options: Any) -> asyncio.Task[Any]:
        task = asyncio.Task(coroutine, loop=loop, **options)
        self._own.add(task)
        return task

    def cancel_all(self) -> None:
        """Cancel what is not done, and let it see that it is."""
        pending = [task for task in self._own if not task.done()]
        for task in pending:
            task.cancel()
        if pending:
            self.run_until_complete(asyncio.gather(*pending, return_exceptions=True))

    def run_in_executor(
        self, executor: Executor | None, func: Callable[[*_Arguments], _T], *args: *_Arguments
    ) -> asyncio.Future[_T]:
        """Call `func` now and return a finished future of its result."""
        del executor
        future: asyncio.Future[_T] = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    def call_soon(
        self, callback: Callable[[*_Arguments], object], *args: *_Arguments, context: contextvars.Context | None = None
    ) -> asyncio.Handle:
        """Count what is put on the loop, for `settle`."""
        self._calls += 1
        return super().call_soon(callback, *args, context=context)

    async def settle(self) -> None:
        """Let all other tasks go on for as long as any of them can."""
        before = -1
        while self._calls > before + 1:  # the one is this task itself
            before = self._calls
            await asyncio.sleep(0)


def run_program(
    program: Callable[[], None],
    *,
    project: str,
    stack: str,
    root_directory: str,
    config: Mapping[str, str],
    secret_keys: frozenset[str],
    monitor: object,
    engine: object,
    dry_run: bool,
) -> None:
    """Run `program` inside a Stack as the language host does, against `monitor` and `engine`.

    Each run has a context of its own, so runs do not see each other's configuration, settings or Stack.

    Raises:
        RuntimeError: an event loop runs in this thread already.
        Exception: whatever the program or the monitor raised.
    """
    if asyncio._get_running_loop() is not None:
        raise RuntimeError("a program cannot be recorded inside a running event loop; use a thread of its own")

    def inside() -> None:
        set_all_config(dict(config), sorted(secret_keys))
        configure(
            Settings(
                project=project,
                stack=stack,
                monitor=monitor,
                engine=engine,
                dry_run=dry_run,
                organization="organization",
                root_directory=root_directory,
            )
        )
        loop = InlineLoop()

        def whole() -> Coroutine[Any, Any, None]:
            program()
            # The SDK awaits what is under way in turn and looks at all of it each time: a sixth of a recording, if
            # anything were still under way.
            return loop.settle()

        _run_to_end(loop, run_in_stack(whole))

    contextvars.copy_context().run(inside)


def _run_to_end(loop: InlineLoop, main: Coroutine[Any, Any, None]) -> None:
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)  # as the language host does
    # A failed run leaves futures that nobody awaits; the failure itself is raised below.
    loop.set_exception_handler(lambda _loop, _context: None)
    asyncio.set_event_loop(loop)
    try:
        loop.run_until_complete(main)
    finally:
        loop.cancel_all()
        asyncio.set_event_loop(None)
        loop.close()


def run_transform(token: str, request: resource_pb2.TransformRequest) -> resource_pb2.TransformResponse:
    """Call the transform that the program registered under `token`, as the engine would over the wire."""
    for servicer in _CallbackServicer._servicers:
        callback = servicer._callbacks.get(token)
        if callback is not None:
            return cast("resource_pb2.TransformResponse", _sync_await(callback(request.SerializeToString())))
    raise LookupError(f"no transform is registered under {token}")
