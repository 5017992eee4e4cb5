/** What SIPClusters' services are configured by, read by the programs that it is for: HAProxy, OpenSSH's server and client, Python. */
import assert from "node:assert/strict";
import { execFile, spawn, spawnSync } from "node:child_process";
import { chmodSync, chownSync, copyFileSync, existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { promisify } from "node:util";
import { deadline, systemClock } from "@slipway/base";
import { sshKeyPair } from "../../src/pki/ssh-keys.ts";
import { type Balancing, haproxyConfig } from "../../src/systems/sip/services/balance/haproxy-config.ts";
import { authorizedKeys } from "../../src/systems/sip/services/jump/authorized-keys.ts";
import { HOST_COMMAND } from "../../src/systems/sip/services/jump/host-command.ts";
import { HOST_KEY, sshConfig, sshdConfig } from "../../src/systems/sip/services/jump/ssh-files.ts";
import { freePort } from "../kubernetes/free-port.ts";
import { servicePrograms } from "./tools.ts";

const run = promisify(execFile);
const programs = await servicePrograms(process.env);
const skip = "missing" in programs ? programs.missing : false;
const { folder, libraries } = "tool" in programs ? programs.tool : { folder: "", libraries: "" };
const env = { ...process.env, LD_LIBRARY_PATH: libraries };

/** A folder of its own, at a place to which only its owner may write. */
function place(t: TestContext, above = tmpdir()): string {
  const made = mkdtempSync(join(above, "slipway-sip-"));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

const PORTS = Array.from({ length: 10 }, (_, at) => ({ name: `port-${30_002 + at}`, port: 30_002 + at }));
const V4 = [
  { name: "node-1", address: "10.0.0.1" },
  { name: "node-2.metal", address: "10.0.0.2" },
];
const CONFIGS: readonly [string, Balancing][] = [
  ["API servers", { ports: [{ name: "http", port: 6443 }], servers: V4, check: "apiserver", healthPort: 8404 }],
  ["workers' ports", { ports: PORTS, servers: V4, check: "connect", healthPort: 8404 }],
  ["no hosts", { ports: PORTS, servers: [], check: "connect", healthPort: 8404 }],
  [
    "IPv6",
    {
      ...{ ports: [{ name: "http", port: 6443 }], check: "apiserver", healthPort: 8404 },
      servers: [...V4, { name: "six", address: "2001:1890:1001:293d::139" }],
    },
  ],
];

function judged(t: TestContext, config: string): { status: number | null; said: string } {
  const file = join(place(t), "haproxy.cfg");
  writeFileSync(file, config);
  const { status, stderr, stdout } = spawnSync(join(folder, "usr/sbin/haproxy"), ["-c", "-f", file], { env });
  return { status, said: `${stdout}${stderr}` };
}

for (const [name, balancing] of CONFIGS)
  test(`SIP-8 SIP-19 HAProxy takes the configuration of a load balancer without a warning: ${name}`, { skip }, (t) => {
    const { status, said } = judged(t, haproxyConfig(balancing));
    assert.deepEqual([status, said.match(/\[(WARNING|ALERT)\].*/g)], [0, null], said);
  });

test("HAProxy refuses what is none", { skip }, (t) => {
  assert.notEqual(judged(t, `${haproxyConfig(CONFIGS[0]![1])}  server x 10.0.0.1:port\n`).status, 0);
});

const noLogin = skip || (process.getuid?.() === 0 ? false : "only root may start a server for another user");

test("SIP-14 sshd takes the jump host's configuration and lets the given key in, and no other", {
  skip: noLogin,
}, async (t) => {
  const at = place(t, "/run");
  chmodSync(at, 0o755);
  const [uid, gid] = ["-u", "-g"].map((of) => Number(spawnSync("id", [of, "nobody"]).stdout.toString()));
  const owned = (name: string, text: string): string => {
    const file = join(at, name);
    writeFileSync(file, text, { mode: 0o600 });
    chownSync(file, uid!, gid!);
    return file;
  };
  const [own, given, other] = ["own", "given", "other"].map((name) => sshKeyPair(name));
  owned(HOST_KEY, own!.privateKey);
  owned("authorized_keys", authorizedKeys([given!.authorizedKey], "keys"));
  const port = await freePort();
  const config = owned(
    "sshd_config",
    sshdConfig({ run: at, user: "nobody" }).replace(
      "Port 22\n",
      `Port ${port}\nListenAddress 127.0.0.1\nPidFile none\n`,
    ),
  );
  const sshd = join(at, "sshd");
  copyFileSync(join(folder, "usr/sbin/sshd"), sshd);
  chmodSync(sshd, 0o755);
  // The cache of the one who tests may be closed to others.
  const lib = join(at, "lib");
  spawnSync("cp", ["-rL", libraries, lib]);
  const withLibraries = { env: { ...process.env, LD_LIBRARY_PATH: lib } };
  const asNobody = ["--reuid=nobody", `--regid=${gid}`, "--clear-groups", sshd, "-f", config];
  const checked = spawnSync("setpriv", [...asNobody, "-t"], withLibraries);
  assert.deepEqual([checked.status, checked.stderr.toString()], [0, ""]);
  const server = spawn("setpriv", [...asNobody, "-D", "-e"], { ...withLibraries, stdio: ["ignore", "ignore", "pipe"] });
  t.after(() => server.kill());
  let log = "";
  await new Promise<void>((resolve) =>
    server.stderr.on("data", (data) => {
      log += data;
      if (log.includes("listening on")) resolve();
    }),
  );
  const key = (name: string, text: string): string => {
    const file = join(at, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const login = async (identity: string): Promise<string> => {
    const options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "IdentitiesOnly=yes", "BatchMode=yes"];
    const words = ["-v", "-F", "none", ...options.flatMap((option) => ["-o", option]), "-i", identity];
    const all = [...words, "-p", String(port), "nobody@127.0.0.1", "true"];
    // Its user has no shell: what counts is whether it was let in.
    return (await run("ssh", all, { timeout: 30_000 }).catch((error: { stderr: string }) => error)).stderr;
  };
  const taken = await login(key("given", given!.privateKey));
  assert.match(taken, /Authenticated to 127\.0\.0\.1/, `${taken}\n${log}`);
  const refused = await login(key("other", other!.privateKey));
  assert.match(refused, /Permission denied \(publickey\)/, refused);
  assert.doesNotMatch(refused, /Authenticated to/);
});

test("SIP-16 ssh reads where each host is and which keys are tried", {
  skip: existsSync("/usr/bin/ssh") ? false : "there is no ssh",
}, async (t) => {
  const at = place(t);
  const hosts = [
    { unique: "node-1", address: "10.0.0.1" },
    { unique: "node-2.metal", address: "2001:db8::2" },
  ];
  writeFileSync(join(at, "config"), sshConfig(hosts, ["key", "other.pem"]));
  const of = async (name: string): Promise<string> => (await run("ssh", ["-G", "-F", join(at, "config"), name])).stdout;
  assert.match(await of("node-1"), /^hostname 10\.0\.0\.1$/m);
  assert.match(await of("node-2.metal"), /^hostname 2001:db8::2$/m);
  assert.match(await of("node-1"), /^identityfile \/etc\/opt\/sip\/ssh-private-keys\/key$/m);
  assert.match(await of("node-1"), /^identityfile \/etc\/opt\/sip\/ssh-private-keys\/other\.pem$/m);
});

const python = spawnSync("python3", ["--version"]).status === 0;

test("SIP-15 SIP-16 the command host switches one machine of several behind a BMC, by several reset types, with credentials of its own file", {
  skip: python ? false : "there is no python3",
}, async (t) => {
  const at = place(t);
  const seen: string[] = [];
  const bmc = createServer(async (request, answer) => {
    let body = "";
    for await (const part of request) body += part;
    const user = Buffer.from((request.headers.authorization ?? "").replace("Basic ", ""), "base64").toString();
    if (user !== "root:pass word") return void answer.writeHead(401).end();
    if (request.method === "POST") {
      seen.push(`${request.url} ${body}`);
      return void answer.writeHead(204).end();
    }
    const target = `${request.url}/Actions/ComputerSystem.Reset`;
    const action = { target, "ResetType@Redfish.AllowableValues": ["On", "ForceRestart", "GracefulRestart"] };
    answer.end(JSON.stringify({ PowerState: "On", Actions: { "#ComputerSystem.Reset": action } }));
  });
  await new Promise<void>((resolve) => bmc.listen(0, "127.0.0.1", resolve));
  t.after(() => bmc.close());
  const origin = `http://127.0.0.1:${(bmc.address() as AddressInfo).port}`;
  const list = [
    { name: "vm-1", role: "Worker", address: "10.0.0.1", bmc: { origin, system: "/redfish/v1/Systems/one" } },
    { name: "vm-2", role: "Worker", address: "10.0.0.2", bmc: { origin, system: "/redfish/v1/Systems/two" } },
    { name: "old", role: "Worker", address: "10.0.0.3", bmc: { address: "ipmi://10.0.0.9" } },
  ];
  writeFileSync(join(at, "hosts"), JSON.stringify(list));
  writeFileSync(join(at, "host"), HOST_COMMAND, { mode: 0o755 });
  for (const name of ["vm-1", "vm-2"]) {
    writeFileSync(join(at, `${name}.username`), "root");
    writeFileSync(join(at, `${name}.password`), "pass word");
  }
  const host = async (...words: string[]): Promise<string> => {
    const { signal, done } = deadline(systemClock, 60_000);
    const environment = { ...process.env, SIP_HOSTS: join(at, "hosts"), SIP_BMC: at, NO_PROXY: "*", no_proxy: "*" };
    const answer = await run("python3", [join(at, "host"), ...words], { env: environment, signal }).catch(
      (error: Error & { stderr?: string }) => ({ stdout: `failed: ${error.stderr}` }),
    );
    done();
    return answer.stdout.trim();
  };
  assert.equal(await host("list"), "vm-1\nvm-2\nold");
  assert.equal(await host("power", "vm-2"), "On");
  assert.equal(await host("reboot", "vm-2"), "vm-2: GracefulRestart was sent");
  assert.equal(await host("reboot", "vm-1", "ForceRestart"), "vm-1: ForceRestart was sent");
  assert.match(
    await host("reboot", "vm-1", "Nmi"),
    /failed: host: vm-1 can't be reset by Nmi; it takes On, ForceRestart/,
  );
  assert.match(await host("reboot", "old"), /failed: host: old has no management controller that speaks Redfish/);
  assert.match(await host("reboot", "none"), /failed: host: there is no host none/);
  assert.deepEqual(seen, [
    '/redfish/v1/Systems/two/Actions/ComputerSystem.Reset {"ResetType": "GracefulRestart"}',
    '/redfish/v1/Systems/one/Actions/ComputerSystem.Reset {"ResetType": "ForceRestart"}',
  ]);
});
