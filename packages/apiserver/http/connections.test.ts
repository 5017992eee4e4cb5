import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import type { Server } from "node:net";
import { test } from "node:test";
import { boundConnections, type ConnectionLimits } from "./connections.ts";

const PLENTY: ConnectionLimits = { all: 100, perAddress: 100, strangers: 100, strangersPerAddress: 100 };

class Connection extends EventEmitter {
  isOpen = true;
  readonly remoteAddress: string;
  readonly remotePort: number;

  constructor(remoteAddress: string, remotePort: number) {
    super();
    this.remoteAddress = remoteAddress;
    this.remotePort = remotePort;
  }

  destroy(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    this.emit("close");
  }
}

function begin(limits: Partial<ConnectionLimits>) {
  const server = new EventEmitter();
  const bound = boundConnections(server as Server, { ...PLENTY, ...limits });
  let port = 1000;
  const connect = (address = "10.0.0.1"): Connection => {
    const connection = new Connection(address, port++);
    server.emit("connection", connection);
    return connection;
  };
  const recognize = ({ remoteAddress, remotePort }: Connection): void => bound.recognize(remoteAddress, remotePort);
  return { bound, connect, recognize };
}

const open = (...connections: Connection[]): boolean[] => connections.map(({ isOpen }) => isOpen);

test("of too many strangers the oldest gives way, from wherever they come, and nobody else", () => {
  const { connect, recognize } = begin({ strangers: 2 });
  const known = connect("10.0.0.1");
  recognize(known);
  const [first, second] = [connect("10.0.0.1"), connect("10.0.0.2")];
  assert.deepEqual(open(known, first, second), [true, true, true]);
  const third = connect("10.0.0.3");
  assert.deepEqual(open(known, first, second, third), [true, false, true, true]);
  recognize(second);
  const fourth = connect("10.0.0.4");
  assert.deepEqual(open(second, third, fourth), [true, true, true]);
});

test("of too many strangers from one address its oldest gives way; other addresses do not notice", () => {
  const { connect } = begin({ strangersPerAddress: 2 });
  const other = connect("10.0.0.2");
  const [first, second, third] = [connect(), connect(), connect()];
  assert.deepEqual(open(other, first!, second!, third!), [true, false, true, true]);
});

test("an address with all its connections recognized gets no more; a stranger among them makes room", () => {
  const { connect, recognize } = begin({ perAddress: 2 });
  const [first, second] = [connect(), connect()];
  recognize(first!);
  const third = connect();
  assert.deepEqual(open(first!, second!, third), [true, false, true]);
  recognize(third);
  assert.deepEqual(open(connect(), first!, third), [false, true, true]);
  assert.equal(connect("10.0.0.2").isOpen, true);
});

test("a full server takes nobody while all are recognized; a stranger anywhere makes room", () => {
  const { connect, recognize } = begin({ all: 2 });
  const [first, second] = [connect("10.0.0.1"), connect("10.0.0.2")];
  recognize(first!);
  const third = connect("10.0.0.3");
  assert.deepEqual(open(first!, second!, third), [true, false, true]);
  recognize(third);
  assert.equal(connect("10.0.0.4").isOpen, false);
});

test("a connection that ends leaves its room to the next, recognized or not", () => {
  const { connect, recognize } = begin({ perAddress: 1, strangers: 1, strangersPerAddress: 1, all: 1 });
  for (let round = 0; round < 3; round++) {
    const stranger = connect();
    assert.equal(stranger.isOpen, true);
    stranger.destroy();
    const known = connect();
    recognize(known);
    assert.equal(connect().isOpen, false);
    known.destroy();
  }
});

test("all connections end with the server", () => {
  const { bound, connect, recognize } = begin({});
  const [first, second] = [connect(), connect("10.0.0.2")];
  recognize(first!);
  bound.destroy();
  assert.deepEqual(open(first!, second!), [false, false]);
});
