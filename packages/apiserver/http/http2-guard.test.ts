import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { Http2SecureServer } from "node:http2";
import { test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { guardSessions } from "./http2-guard.ts";

class Session extends EventEmitter {
  ended: "closed" | "destroyed" | undefined;
  idleMs = 0;
  onIdle = (): void => {};

  setTimeout(ms: number, fn: () => void): void {
    this.idleMs = ms;
    this.onIdle = fn;
  }

  close(): void {
    this.ended ??= "closed";
  }

  destroy(): void {
    this.ended = "destroyed";
  }
}

function begin() {
  const clock = new VirtualClock();
  const server = new EventEmitter();
  guardSessions(server as Http2SecureServer, clock);
  const connect = (): Session => {
    const session = new Session();
    server.emit("session", session);
    return session;
  };
  return { clock, connect };
}

for (const frame of ["ping", "remoteSettings"]) {
  test(`HTTP/2: a hundred frames at once that only ask for an answer are taken, and ten a second after them (${frame})`, async () => {
    const { clock, connect } = begin();
    const session = connect();
    const send = (count: number): void => {
      for (let i = 0; i < count; i++) session.emit(frame);
    };
    send(100);
    for (let second = 0; second < 5; second++) {
      await clock.run(1_000);
      send(10);
    }
    assert.equal(session.ended, undefined);
    await clock.run(3_600_000);
    send(100);
    assert.equal(session.ended, undefined, "rest is not saved up beyond a hundred");
    send(1);
    assert.equal(session.ended, "destroyed");
    assert.equal(connect().ended, undefined);
  });
}

test("HTTP/2: a connection that rests for ninety seconds ends, unless a request is under way", () => {
  const { connect } = begin();
  const session = connect();
  assert.equal(session.idleMs, 90_000);
  const [watch, other] = [new EventEmitter(), new EventEmitter()];
  session.emit("stream", watch);
  session.emit("stream", other);
  other.emit("close");
  session.onIdle();
  assert.equal(session.ended, undefined);
  watch.emit("close");
  session.onIdle();
  assert.equal(session.ended, "closed");
});
