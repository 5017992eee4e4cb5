/** Connections to databases that hang, break or are none: what they cost, and what is said of them. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { quietLog as log, systemClock } from "@slipway/base";
import { VirtualClock } from "@slipway/base/virtual-clock";
import type { DatastoreOptions } from "../datastore.ts";
import { withMysql } from "./mysql-session.ts";
import { withPostgresql } from "./postgresql-session.ts";
import { mysqlStandIn, postgresqlStandIn, type SqlStandIn } from "./testing.ts";

type Session = { query(text: string, values?: unknown[]): Promise<unknown[]> };
type With = <T>(options: DatastoreOptions, signal: AbortSignal, work: (session: Session) => Promise<T>) => Promise<T>;
interface Kind {
  driver: "MySQL" | "PostgreSQL";
  standIn: () => Promise<SqlStandIn>;
  using: With;
}
const KINDS: readonly Kind[] = [
  { driver: "MySQL", standIn: mysqlStandIn, using: withMysql },
  {
    ...{ driver: "PostgreSQL", standIn: postgresqlStandIn },
    using: (options, signal, work) => withPostgresql(options, "postgres", signal, work),
  },
];
const { signal } = new AbortController();

async function rig(t: TestContext, { standIn, driver }: Kind) {
  const server = await standIn();
  t.after(() => server.close());
  const clock = new VirtualClock();
  const basicAuth = { username: "root", password: "root" };
  const options = { driver, endpoints: [server.endpoint], basicAuth, clock, log, patienceMs: 1_000 };
  return { server, clock, options };
}

/** A server that does this with each connection. */
async function listening(t: TestContext, serve: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("error", () => {}));
    serve(socket);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return `127.0.0.1:${(server.address() as { port: number }).port}`;
}

for (const kind of KINDS) {
  const { driver, using } = kind;

  test(`B24 a statement that ${driver} does not answer is given up after three times the patience, and its connection with it`, async (t) => {
    const { server, clock, options } = await rig(t, kind);
    let arrived = (): void => {};
    const asked = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    server.script = [
      [
        /slow/,
        () => {
          arrived();
          return "silent";
        },
      ],
    ];
    const given = assert.rejects(
      using(options, signal, (session) => session.query("SELECT 'slow'")),
      { code: "Unavailable", message: /no answer within 3000 ms/ },
    );
    await asked;
    await clock.run(2_999);
    assert.equal(server.open(), 1);
    await clock.run(1);
    await given;
  });

  test(`B24 ${driver} that takes a connection and says nothing is given up after the patience`, async (t) => {
    let arrived = (): void => {};
    const reached = new Promise<void>((resolve) => {
      arrived = resolve;
    });
    const gone = Promise.withResolvers<void>();
    const endpoint = await listening(t, (socket) => {
      socket.resume().on("close", () => gone.resolve());
      arrived();
    });
    const { clock, options } = await rig(t, kind);
    const given = assert.rejects(
      using({ ...options, endpoints: [endpoint] }, signal, async () => assert.fail()),
      { code: "Unavailable", message: /no answer within 1000 ms/ },
    );
    await reached;
    await clock.run(1_000);
    await given;
    await gone.promise;
  });

  test(`a connection to ${driver} that breaks while nobody asks ends the next statement, and nothing else`, async (t) => {
    const { server, options } = await rig(t, kind);
    const broken = using(options, signal, async (session) => {
      await session.query("SELECT 1");
      server.drop();
      while (server.open() > 0) await systemClock.sleep(1);
      await systemClock.sleep(5);
      await session.query("SELECT 2");
    });
    await assert.rejects(broken, { code: "Unavailable" });
    server.script = [[/half/, "broken"]];
    await assert.rejects(
      using(options, signal, (session) => session.query("SELECT 'half'")),
      { code: "Unavailable" },
    );
  });

  test(`the work's own error is the one that is said, and the connection to ${driver} ends with it`, async (t) => {
    const { server, options } = await rig(t, kind);
    const mine = new Error("mine");
    await assert.rejects(
      using(options, signal, async () => {
        throw mine;
      }),
      mine,
    );
    while (server.open() > 0) await systemClock.sleep(1);
    assert.equal(await using(options, signal, async () => "done"), "done");
  });

  test(`who gives up before has no connection to ${driver}`, async (t) => {
    const { server, options } = await rig(t, kind);
    const giving = new AbortController();
    giving.abort(new Error("enough"));
    await assert.rejects(
      using(options, giving.signal, async () => assert.fail()),
      /enough/,
    );
    assert.deepEqual(server.asked, []);
  });
}

test("TLS that PostgreSQL does not offer, and a server that ends it, say what to correct", async (t) => {
  const { options } = await rig(t, KINDS[1]!);
  const tls = {};
  const said = async (serve: (socket: Socket) => void, kind: Kind, fault: object): Promise<void> => {
    const endpoint = await listening(t, serve);
    await assert.rejects(
      kind.using({ ...options, driver: kind.driver, endpoints: [endpoint], tls }, signal, async () => assert.fail()),
      fault,
    );
  };
  const none = (socket: Socket): void => void socket.once("data", () => socket.write("N"));
  await said(none, KINDS[1]!, { code: "Invalid", remedy: "remove spec.tlsConfig, or switch TLS on at the server" });
  const ending = (socket: Socket): void => void socket.once("data", () => socket.destroy());
  await said(ending, KINDS[1]!, { code: "Unavailable" });
});

/** A MySQL server that offers TLS; `then` gets the socket once the client has begun with it: 36 bytes ask for it. */
const offeringTls =
  (then: (socket: Socket) => void) =>
  (socket: Socket): void => {
    const flags = Buffer.from([0xff, 0xff, 0x21, 2, 0, 0xff, 0, 21, ...Array(10).fill(0), ...Array(12).fill(7), 0]);
    const salt = Buffer.from([1, 0, 0, 0, ...Array(8).fill(7), 0]);
    const greeting = [Buffer.from("\x0a8.0.0\0"), salt, flags, Buffer.from("mysql_native_password\0")];
    const body = Buffer.concat(greeting);
    socket.write(Buffer.concat([Buffer.from([body.length, 0, 0, 0]), body]));
    let came = 0;
    socket.on("data", (chunk: Buffer) => {
      if (came <= 36 && came + chunk.length > 36) then(socket);
      came += chunk.length;
    });
  };

test("TLS with MySQL that fails says whose certificate to correct, and an end of the connection is tried again", async (t) => {
  const { options } = await rig(t, KINDS[0]!);
  const said = async (then: (socket: Socket) => void, fault: object): Promise<void> => {
    const endpoint = await listening(t, offeringTls(then));
    const refused = withMysql({ ...options, endpoints: [endpoint], tls: {} }, signal, async () => assert.fail());
    await assert.rejects(refused, fault);
  };
  await said((socket) => socket.destroy(), { code: "Unavailable" });
  // A fatal alert, unknown_ca: the server does not trust the client's certificate.
  await said((socket) => socket.write(Buffer.from([21, 3, 3, 0, 2, 2, 48])), {
    code: "BadCredentials",
    remedy: "put a certificate that its authority signed into spec.tlsConfig.clientCertificate",
  });
  await said((socket) => socket.write("this is no TLS"), {
    code: "Invalid",
    remedy: "remove spec.tlsConfig, or switch TLS on at the server",
  });
});
