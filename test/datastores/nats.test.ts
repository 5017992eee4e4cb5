import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { isFault } from "@slipway/base";
import { connect } from "nats";
import { promises } from "./promises.ts";
import { NEEDS, nats, startNats } from "./servers/nats.ts";
import { skipWithout } from "./servers/programs.ts";
import { opened, PATIENT, place } from "./servers/stage.ts";

const skip = skipWithout(NEEDS, "Debian's package nats-server");
promises(nats, skip);

test("NATS: an account with one stream holds one tenant, and says so", { skip }, async (t) => {
  const server = await startNats(t, { limits: "{ max_streams: 1, max_file: 100MB }" });
  const datastore = await opened(t, server);
  for (let i = 0; i < 2; i++) await datastore.ensure(place("one"), PATIENT);
  await assert.rejects(datastore.ensure(place("two"), PATIENT), (error) => {
    return isFault(error, "NoCapacity") && /max_streams/.test(error.advice);
  });
  assert.deepEqual(await datastore.places(PATIENT), ["one"]);
  assert.deepEqual(await datastore.remove(place("one"), PATIENT), []);
  await datastore.ensure(place("two"), PATIENT);
});

test("NATS: a server without room for a copy says so, and the source stays whole", { skip }, async (t) => {
  const source = await startNats(t);
  const from = await opened(t, source);
  const to = await opened(t, await startNats(t, { limits: "{ max_file: 1MB }" }));
  const one = place("one");
  for (const each of [from, to]) await each.ensure(one, PATIENT);
  const { endpoints, tls, basicAuth } = source.options;
  const connection = await connect({
    servers: [...endpoints],
    tls: { ...tls, host: "127.0.0.1" } as object,
    ...{ user: basicAuth!.username, pass: basicAuth!.password, reconnect: false },
  });
  const bucket = await connection.jetstream().views.kv("one");
  for (let i = 0; i < 40; i++) await bucket.put(`key-${i}`, randomBytes(100_000));
  await assert.rejects(
    from.copy(one, to, () => {}, PATIENT),
    (error) => isFault(error, "NoCapacity"),
  );
  assert.deepEqual(await bucket.get("key-39").then((entry) => entry?.value.length), 100_000);
  await connection.close();
  assert.deepEqual(await to.remove(one, PATIENT), []);
  await to.ensure(one, PATIENT);
});
