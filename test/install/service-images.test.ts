/** The images that `make service-images` wrote (dist/service-images), run as a container engine would, with what SIP gives their Pods. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import type { SIPCluster } from "../../src/kinds/sip/sip-cluster.ts";
import { sshKeyPair } from "../../src/pki/ssh-keys.ts";
import { dexConfig } from "../../src/systems/sip/services/auth/dex-config.ts";
import { haproxyConfig } from "../../src/systems/sip/services/balance/haproxy-config.ts";
import { HOST_COMMAND } from "../../src/systems/sip/services/jump/host-command.ts";
import { hostKeySecret, jumpHost } from "../../src/systems/sip/services/jump/jump-host.ts";
import { HOST_KEY, PLACES, sshConfig, sshdConfig, USER } from "../../src/systems/sip/services/jump/ssh-files.ts";
import type { Descriptor } from "../../tools/image/oci.ts";
import { run } from "../../tools/image/run.ts";
import { lacking as networks } from "../netboot/namespace.ts";
import { logIns, type Mounted, mountVolumes } from "./jump-host-pod.ts";

const IMAGES = join(import.meta.dirname, "../../dist/service-images");
const MOST_BYTES: Readonly<Record<string, number>> = { haproxy: 60e6, dex: 60e6, "jump-host": 220e6 };
/** It has no shadow of this machine: only root may change its root. */
const isRoot = process.getuid?.() === 0;

/** Why an image can't be run here; false: it can. */
function lacking(name: string): string | false {
  if (!existsSync(join(IMAGES, name, "index.json")))
    return `there is no dist/service-images/${name}: run \`make service-images\``;
  return isRoot ? false : "only root may change its root";
}

interface Container {
  root: string;
  entrypoint: readonly string[];
  stopSignal: string | undefined;
  /** Runs a program in it, as this user. */
  run(user: string, ...words: string[]): { status: number | null; said: string };
  write(path: string, text: string, mode?: number): void;
}

/** The image's file system, and how it is run. */
function container(t: TestContext, name: string): Container {
  const at = (...path: string[]): string => join(IMAGES, name, ...path);
  const blob = ({ digest }: Descriptor): Buffer => readFileSync(at("blobs", digest.replace(":", "/")));
  const { manifests } = JSON.parse(readFileSync(at("index.json"), "utf8")) as { manifests: Descriptor[] };
  const manifest = JSON.parse(blob(manifests[0]!).toString()) as { config: Descriptor; layers: Descriptor[] };
  const { config } = JSON.parse(blob(manifest.config).toString()) as {
    config: { Entrypoint: string[]; StopSignal?: string };
  };
  const bytes = manifest.layers.reduce((sum, { size }) => sum + size, 0);
  assert.ok(bytes < MOST_BYTES[name]!, `${bytes} bytes`);
  const root = mkdtempSync(join(tmpdir(), "slipway-service-"));
  t.after(() => rmSync(root, { recursive: true, force: true }));
  for (const layer of manifest.layers) run("tar", ["-x", "-C", root], { input: blob(layer) });
  // As in every container.
  run("mknod", ["-m", "666", join(root, "dev/null"), "c", "1", "3"]);
  return {
    ...{ root, entrypoint: config.Entrypoint, stopSignal: config.StopSignal },
    run(user, ...words) {
      const env = { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" };
      const chroot = ["--userspec", user, root, ...words];
      const { status, stdout, stderr } = spawnSync("/usr/sbin/chroot", chroot, { env, timeout: 120_000 });
      return { status, said: `${stdout}${stderr}` };
    },
    write(path, text, mode = 0o644) {
      mkdirSync(join(root, path, ".."), { recursive: true });
      writeFileSync(join(root, path), text, { mode });
    },
  };
}

test("SIP-8 HAProxy's image takes the configuration where Pods have it, and ends without cutting connections", {
  skip: lacking("haproxy"),
}, (t) => {
  const image = container(t, "haproxy");
  const servers = [{ name: "node-1", address: "10.0.0.1" }];
  const config = haproxyConfig({
    ports: [{ name: "http", port: 6443 }],
    servers,
    check: "apiserver",
    healthPort: 8404,
  });
  image.write("usr/local/etc/haproxy/haproxy.cfg", config);
  const checked = image.run("65534:65534", ...image.entrypoint, "-c");
  assert.deepEqual([checked.status, checked.said.match(/\[(WARNING|ALERT)\].*/g)], [0, null], checked.said);
  assert.equal(image.stopSignal, "SIGUSR1");
});

test("SIP-14 Dex's image has the command that Pods run, and reads SIP's configuration", {
  skip: lacking("dex"),
}, (t) => {
  const image = container(t, "dex");
  const issuer = "https://192.0.2.10:30556/dex";
  image.write("etc/dex/config/config.yaml", dexConfig({ issuer, connectors: [], staticPasswords: [] }));
  // It gets as far as the certificate, which is not there.
  const { said } = image.run("65534:65534", "dex", "serve", "/etc/dex/config/config.yaml");
  assert.match(said, /config issuer.*192\.0\.2\.10/, said);
  assert.match(said, /get HTTP TLS: .*no such file/, said);
});

test("SIP-14 SIP-16 the jump host's image has sshd, ssh, kubectl and what the command host needs", {
  skip: lacking("jump-host"),
}, (t) => {
  const image = container(t, "jump-host");
  const [own] = [sshKeyPair("own")];
  image.write(`${PLACES.run}/${HOST_KEY}`, own.privateKey, 0o600);
  image.write(`${PLACES.sshd}/sshd_config`, sshdConfig());
  image.write("run/sshd/.keep", "");
  const checked = image.run("0:0", "/usr/sbin/sshd", "-t", "-f", `${PLACES.sshd}/sshd_config`);
  assert.deepEqual([checked.status, checked.said], [0, ""]);
  image.write(PLACES.hosts, JSON.stringify([{ name: "node-1", role: "Worker", address: "10.0.0.1" }]));
  image.write(`${PLACES.scripts}/host`, HOST_COMMAND, 0o755);
  assert.deepEqual(image.run("1000:1000", "host", "list"), { status: 0, said: "node-1\n" });
  image.write(`home/${USER}/.ssh/config`, sshConfig([{ unique: "node-1", address: "10.0.0.1" }], ["key"]));
  assert.match(
    image.run("1000:1000", "ssh", "-G", "-F", `/home/${USER}/.ssh/config`, "node-1").said,
    /^hostname 10\.0\.0\.1$/m,
  );
  assert.match(image.run("1000:1000", "kubectl", "version", "--client").said, /Client Version: v1\./);
  for (const program of ["sh", "bash", "install", "chmod", "less", "ps", "ip", "grep"])
    assert.equal(image.run("1000:1000", "sh", "-c", `command -v ${program}`).status, 0, program);
});

test("SIP-14 SIP-16 a jump host's Pod lets its key in and no other, and leads to a host behind it", {
  skip: lacking("jump-host") || (await networks("ssh", "ssh-keyscan")),
}, (t) => {
  const { root } = container(t, "jump-host");
  const [given, other, inside, hostKey, farKey] = ["given", "other", "inside", "host", "far"].map((name) =>
    sshKeyPair(name),
  );
  const address = "10.0.0.1";
  const cluster = { metadata: { name: "c", namespace: "n", uid: "u" } } as unknown as SIPCluster;
  const entry = { cluster, kind: "jumpHost", at: 0 } as const;
  const rendered = jumpHost(
    entry,
    {
      ...{ image: "i", nodeInterfaceId: "oam", nodePort: 30_010 },
      nodeSSHPrivateKeys: "keys",
      sshAuthorizedKeys: [given!.authorizedKey],
    } as never,
    {
      hosts: [{ name: "node-1", namespace: "n", role: "Worker", unique: "node-1", addresses: { oam: address } }],
      keyNames: ["id"],
      keysVersion: "1",
    },
  );
  const secret = (name: string, texts: Record<string, string>) => ({
    ...{ kind: "Secret", metadata: { name } },
    data: Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, Buffer.from(text).toString("base64")])),
  });
  const objects = [
    ...rendered.secrets,
    ...rendered.configMaps,
    hostKeySecret(entry, hostKey!),
    secret("keys", { id: inside!.privateKey }),
    secret("c-kubeconfig", { value: "the kubeconfig" }),
  ] as Mounted[];
  const command = mountVolumes(root, rendered, objects);
  const file = (name: string, text: string): string => {
    writeFileSync(join(root, name), text, { mode: 0o600 });
    return join(root, name);
  };
  const asked = "host list && cat $KUBECONFIG && echo && ssh node-1 echo reached as \\$USER";
  const { each, log } = logIns(
    root,
    command,
    { address, hostKey: farKey!.privateKey, authorizedKey: inside!.authorizedKey },
    [
      { key: file("given", given!.privateKey), command: asked },
      { key: file("other", other!.privateKey), command: "host list" },
    ],
  );
  const [first, second] = each;
  assert.equal(first!.status, 0, `${first!.said}\n${log}`);
  assert.equal(first!.said.replace(/^Warning: [^\n]*\n/gm, ""), `node-1\nthe kubeconfig\nreached as ${USER}\n`);
  assert.notEqual(second!.status, 0);
  assert.match(second!.said, /Permission denied \(publickey\)/);
});
