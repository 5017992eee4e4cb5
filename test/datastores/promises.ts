/** What every driver promises, on real servers. */
import assert from "node:assert/strict";
import { type AddressInfo, connect, createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { type Code, isFault, quietLog, systemClock } from "@slipway/base";
import { openDatastore } from "../../src/datastores/open.ts";
import { createAuthority } from "../../src/pki/authority.ts";
import { freePort } from "../kubernetes/free-port.ts";
import { tcpProxy } from "../kubernetes/tcp-proxy.ts";
import { opened, PATIENT, place, type Stage } from "./servers/stage.ts";

const IMPATIENT_MS = 700;

/** A predicate for `assert.rejects`: a fault of this code that says what to do. */
function fault(...codes: Code[]): (error: unknown) => true {
  return (error) => {
    assert.ok(isFault(error, ...codes), `${(error as Error)?.stack}`);
    assert.ok(error.remedy, error.message);
    return true;
  };
}

/** Another address of loopback that leads to this port. */
async function forwarded(t: TestContext, host: string, port: number): Promise<string> {
  const server = createServer((near) => {
    const far = connect(port, "127.0.0.1");
    near.on("error", () => far.destroy()).pipe(far);
    far.on("error", () => near.destroy()).pipe(near);
  });
  await new Promise<void>((listening) => server.listen(0, host, listening));
  t.after(() => server.close());
  return `${host}:${(server.address() as AddressInfo).port}`;
}

export function promises(stage: Stage, skip: string | false): void {
  leavesNothing(stage, skip);
  saysWhatToDo(stage, skip);
  refusesNames(stage, skip);
}

function leavesNothing(stage: Stage, skip: string | false): void {
  const { driver } = stage;
  test(`${driver}: B27 a place that is ensured twice and removed twice leaves nothing`, { skip }, async (t) => {
    const server = await stage.start(t);
    const datastore = await opened(t, server);
    await datastore.check(PATIENT);
    const before = await server.contents();
    assert.deepEqual(await datastore.places(PATIENT), []);
    const [one, two] = [place("tenant_one"), place("tenant-two")];
    for (const each of [one, two, one, two]) await datastore.ensure(each, PATIENT);
    assert.deepEqual(await datastore.places(PATIENT), ["tenant-two", "tenant_one"]);

    if (stage.tenant) {
      const [first, second] = [await stage.tenant(t, server, one), await stage.tenant(t, server, two)];
      await first.write("a", "1");
      await second.write("b", "2");
      await datastore.ensure(one, PATIENT);
      assert.deepEqual([await first.read(), await second.read()], [["a"], ["b"]]);
      for (const [what, attempt] of Object.entries(first.attempts(two)))
        await assert.rejects(attempt(), () => true, `a tenant can ${what}`);
      // Nobody has to go before a place can be removed.
    }
    assert.deepEqual(await datastore.remove(one, PATIENT), []);
    assert.deepEqual(await datastore.places(PATIENT), ["tenant-two"]);
    assert.deepEqual(await datastore.remove(two, PATIENT), []);
    assert.deepEqual(await server.contents(), before);
    assert.deepEqual(await datastore.remove(two, PATIENT), []);
    assert.deepEqual(await datastore.places(PATIENT), []);

    for (const [what, half] of Object.entries(stage.halves)) {
      await datastore.ensure(one, PATIENT);
      if (stage.tenant) {
        const tenant = await stage.tenant(t, server, one);
        await tenant.write("a", "1");
        await tenant.close();
      }
      await half(server, one);
      assert.deepEqual(await datastore.remove(one, PATIENT), [], what);
      assert.deepEqual(await server.contents(), before, what);
      // What is gone is made again, too.
      await datastore.ensure(one, PATIENT);
      await half(server, one);
      await datastore.ensure(one, PATIENT);
      assert.deepEqual(await datastore.remove(one, PATIENT), [], what);
      assert.deepEqual(await server.contents(), before, what);
    }
  });
}

function saysWhatToDo(stage: Stage, skip: string | false): void {
  const { driver } = stage;
  test(`${driver}: wrong credentials, a wrong authority, a server that is slow or down: a fault says what to do`, {
    skip,
  }, async (t) => {
    const server = await stage.start(t);
    const refused = await opened(t, server, await stage.wrong(server));
    await assert.rejects(refused.check(PATIENT), fault("BadCredentials"));
    const stranger = await createAuthority({ commonName: "stranger", clock: systemClock });
    const distrusting = await opened(t, server, { tls: { ...server.options.tls, ca: stranger.certificatePem } });
    await assert.rejects(distrusting.check(PATIENT), fault("UntrustedCertificate"));
    const broken = await opened(t, server, { tls: { ca: "no certificate" } });
    await assert.rejects(broken.check(PATIENT), (error) => isFault(error, "Invalid", "UntrustedCertificate"));

    // Its certificate names 127.0.0.1: who answers at another address may be someone else with a certificate of the same authority.
    const elsewhere = await opened(t, server, { endpoints: [await forwarded(t, "127.0.0.2", server.port)] });
    await assert.rejects(elsewhere.check(PATIENT), fault("UntrustedCertificate"));

    const proxy = await tcpProxy(server.port);
    t.after(() => proxy.close());
    const slow = await opened(t, server, { endpoints: [`127.0.0.1:${proxy.port}`], patienceMs: IMPATIENT_MS });
    proxy.blackHole();
    await assert.rejects(slow.check(PATIENT), fault("Unavailable"));
    const reason = new Error("given up");
    const giveUp = new AbortController();
    const checked = slow.check(giveUp.signal);
    giveUp.abort(reason);
    await assert.rejects(checked, (error) => error === reason);
    await assert.rejects(slow.check(giveUp.signal), (error) => error === reason);
    proxy.heal();
    const patient = await opened(t, server, { endpoints: [`127.0.0.1:${proxy.port}`] });
    await patient.check(PATIENT);

    // The first endpoint that is reached is taken.
    const nobody = `127.0.0.1:${await freePort()}`;
    const second = await opened(t, server, { endpoints: [nobody, ...server.options.endpoints] });
    await second.check(PATIENT);
    await second.close();
    await server.stop();
    const down = await opened(t, server);
    await assert.rejects(down.check(PATIENT), fault("Unavailable"));
    await assert.rejects(down.ensure(place("one"), PATIENT), fault("Unavailable"));
    await assert.rejects(down.remove(place("one"), PATIENT), fault("Unavailable"));
  });
}

function refusesNames(stage: Stage, skip: string | false): void {
  const { driver } = stage;
  test(`${driver}: nothing is done for hostile names`, { skip }, async () => {
    const options = { driver, endpoints: ["127.0.0.1:1"], clock: systemClock, log: quietLog };
    const datastore = await openDatastore(options);
    for (const name of ["", "a/b", '"; DROP DATABASE postgres; --', "a`b", "../a", "a\0b", "-a", "x".repeat(65)])
      for (const verb of ["ensure", "remove"] as const)
        await assert.rejects(datastore[verb]({ schema: name, user: name, password: "p" }, PATIENT), (error) => {
          assert.ok(isFault(error, "Invalid"), `${name}: ${error}`);
          return true;
        });
  });
}
