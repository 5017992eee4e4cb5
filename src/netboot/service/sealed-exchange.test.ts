import assert from "node:assert/strict";
import { createHash, createPublicKey } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { systemClock as clock, seededRandom } from "@slipway/base";
import { createAuthority, issueServer } from "../../pki/authority.ts";
import { agentHandler } from "../agent/handler.ts";
import { FakeMachine } from "../agent/testing.ts";
import { machinesAt, someHosts } from "../hosts/testing.ts";
import { Capabilities } from "../http/boot-capability.ts";
import { PrivateFiles } from "../http/private-files.ts";
import { netbootHttp } from "../http/server.ts";
import { Images } from "../images/images.ts";
import type { UserOrder } from "../protocol/order.ts";
import { giveOrder } from "./give-order.ts";

const missing = ["age", "curl", "jq", "zstd"].filter((name) => !existsSync(`/usr/bin/${name}`));
const skip = missing.length > 0 && `not installed: ${missing.join(" ")}`;

const A = "52:54:00:00:00:0a";
const MIB = 1 << 20;
const random = seededRandom(11);
const [USER_DATA, NETWORK, IMAGE] = [2_000, 500, 16_384].map((bytes) =>
  Buffer.from(random.bytes(bytes)).toString("hex"),
);

/** Everything that this process says on any connection from now on, as it is before TLS hides it. */
function capture(t: TestContext): () => Buffer {
  const said: Buffer[] = [];
  const write = Socket.prototype.write;
  t.after(() => {
    Socket.prototype.write = write;
  });
  Socket.prototype.write = function (this: Socket, ...args: Parameters<typeof write>) {
    const [chunk, encoding] = args;
    const bytes = typeof chunk === "string" ? Buffer.from(chunk, encoding as unknown as BufferEncoding) : chunk;
    said.push(Buffer.from(bytes));
    return write.apply(this, args);
  } as typeof write;
  return () => Buffer.concat(said);
}

/** How many of the secret's parts are in what was said, as they are or as base64 has them. */
function found(secret: string, said: Buffer): number {
  let count = 0;
  for (let at = 0; at + 30 <= secret.length; at += 15) {
    const part = secret.slice(at, at + 30);
    const encoded = [0, 1, 2].map((skipped) => Buffer.from(part.slice(skipped)).toString("base64").slice(0, 32));
    if ([part, ...encoded].some((text) => said.includes(text))) count++;
  }
  return count;
}

/** A netboot's HTTP and a machine's agent that speaks to it by curl, by TLS or without. */
async function exchange(t: TestContext, secure: boolean, wanted: (image: string) => UserOrder) {
  const machine = new FakeMachine();
  t.after(() => machine.close());
  machine.card("eth0", A);
  machine.disk("vda", "virtual/vda", { bytes: 20 * MIB, content: Buffer.alloc(20 * MIB) });
  const image = join(machine.folder, "disk.img");
  writeFileSync(image, IMAGE!);

  const hosts = someHosts(clock);
  const capabilities = new Capabilities(new Uint8Array(32), clock);
  const presences = machinesAt({ "127.0.0.1": A });
  const files = new PrivateFiles({ hosts, capabilities, presences, clock });
  const images = new Images({ folder: join(machine.folder, "cache"), clock });
  const authority = await createAuthority({ commonName: "test", clock });
  const { keyPem, certificatePem } = await issueServer(authority, { commonName: "test", hosts: ["127.0.0.1"], clock });
  const lines: string[] = [];
  const onLine = (_: string, line: string): void => void lines.push(line);
  const server = await netbootHttp({
    files,
    handlers: { "/agent/v1/": agentHandler({ hosts, capabilities, presences, clock, random, onLine }) },
    host: "127.0.0.1",
    port: 0,
    tls: { port: 0, key: keyPem, cert: certificatePem },
  });
  t.after(async () => {
    await server.close();
    hosts.close();
  });
  const url = secure ? server.tls!.url : server.url;
  const spki = createPublicKey(certificatePem).export({ type: "spki", format: "der" });
  const pin = secure ? `sha256//${createHash("sha256").update(spki).digest("base64")}` : "";
  const capability = capabilities.grant({ mac: A, address: "127.0.0.1", to: "agent", until: clock.now() + 60_000 });
  const words = `
    umask 077
    SERVER=${url} PIN='${pin}' CAPABILITY=${capability} BOOT_MAC=${A} CARD=eth0
    prove_cards_aside() { :; }
    pause() { cat "$RUN/lines" >&2; exit 1; }
    watch_stream() { :; }
    lay_data() { cp -r "$RUN/work/data" ${machine.folder}/laid; }`;
  await machine.sh(`${words}\nregister; send_lines`);
  const [host] = hosts.list();
  hosts.approve(host!.name);
  await giveOrder(host!.name, wanted(image), { hosts, files, images, url });
  const said = capture(t);
  await machine.sh(`${words}\ndevices=$(devices_now); next_order; send_lines`);
  return { said: said(), machine, lines, ended: hosts.get(A)?.order?.result };
}

for (const secure of [false, true])
  test(`all that is said ${secure ? "inside TLS" : "without TLS"} while a machine is written holds no part of its secrets`, {
    skip,
  }, async (t) => {
    const data = { "user-data": USER_DATA!, "network-config": NETWORK! };
    const { said, machine, lines, ended } = await exchange(t, secure, (image) => ({
      order: "write",
      image,
      secret: true,
      data,
    }));
    assert.deepEqual(ended?.ok, true, ended?.message);
    const disk = readFileSync(join(machine.folder, "dev/vda")).toString("latin1", 0, IMAGE!.length);
    assert.ok(disk === IMAGE, "the image is on the disk");
    for (const [name, text] of Object.entries(data))
      assert.equal(readFileSync(join(machine.folder, "laid", name), "utf8"), text);

    assert.ok(said.includes("HTTP/1.1 200 OK\r\n") && said.includes("age-encryption.org/v1\n-> X25519 "));
    assert.ok(said.length > IMAGE!.length, `${said.length} bytes were captured`);
    for (const secret of [USER_DATA!, NETWORK!, IMAGE!]) assert.equal(found(secret, said), 0);
    const reported = lines.join("\n") + machine.said();
    assert.doesNotMatch(reported, /AGE-SECRET-KEY|slc_|slh_/);
  });

test("an image that is not secret goes as it lies there, with the user data still sealed", { skip }, async (t) => {
  const { said, ended } = await exchange(t, false, (image) => ({
    order: "write",
    image,
    data: { "user-data": USER_DATA! },
  }));
  assert.equal(ended?.ok, true, ended?.message);
  assert.ok(found(IMAGE!, said) > 2_000);
  assert.equal(found(USER_DATA!, said), 0);
});
