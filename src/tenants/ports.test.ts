import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { test } from "node:test";
import { PortBook } from "./ports.ts";

const host = "127.0.0.1";

test("a port that somebody took is passed over, and one that is given is given to nobody else", async (t) => {
  const foreign = createServer().listen(0, host);
  await once(foreign, "listening");
  t.after(() => foreign.close());
  const { port } = foreign.address() as AddressInfo;
  const book = new PortBook();
  const first = await book.take("a", { host, port, exact: false });
  assert.notEqual(first.port, port);
  assert.deepEqual(await book.take("a", { host, port, exact: false }), first);
  assert.notEqual((await book.take("b", { host, port: first.port, exact: false })).port, first.port);
  await assert.rejects(book.take("c", { host, port: first.port, exact: true }), /is taken/);
  book.release("a");
  assert.deepEqual(await book.take("c", { host, port: first.port, exact: true }), first);
});

test("port 0 is any free one, and stays the same", async () => {
  const book = new PortBook();
  const any = { host, port: 0, exact: false };
  const [first, second] = [await book.take("a", any), await book.take("b", any)];
  assert.ok(first.port > 0 && second.port > 0 && first.port !== second.port);
  assert.deepEqual(await book.take("a", any), first);
});

test("another host, or another port where it must be that one, is another search", async () => {
  const book = new PortBook();
  const first = await book.take("a", { host, port: 0, exact: false });
  const elsewhere = { host: "127.0.0.2", port: first.port, exact: false };
  assert.equal((await book.take("a", elsewhere)).host, "127.0.0.2");
  const { port } = await book.take("b", { host, port: 0, exact: false });
  book.release("b");
  assert.deepEqual(await book.take("a", { host, port, exact: true }), { host, port });
  assert.deepEqual(await book.take("a", { host, port: port + 1, exact: false }), { host, port }, "it may be another");
});

test("two that look for the same port at once get two", async () => {
  const book = new PortBook();
  const { port } = await book.take("first", { host, port: 0, exact: false });
  book.release("first");
  const found = await Promise.all(["a", "b"].map((id) => book.take(id, { host, port, exact: false })));
  assert.notEqual(found[0]!.port, found[1]!.port);
  const refused = book.take("c", { host, port, exact: true });
  await assert.rejects(refused, { remedy: "choose another port in spec.networkProfile.port" });
  assert.ok((await book.take("d", { host, port, exact: false })).port > port, "a refusal ends no other search");
});

test("the search ends at the last port that there is, and says where it looked", async (t) => {
  const foreign = createServer().listen(65_535, host);
  await once(foreign, "listening");
  t.after(() => foreign.close());
  await assert.rejects(
    new PortBook().take("a", { host, port: 65_535, exact: false }),
    /no port from 65535 to 65535 of 127.0.0.1 is free/,
  );
});
