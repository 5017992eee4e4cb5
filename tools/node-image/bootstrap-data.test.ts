/** What the node does with bootstrap data: the program itself, with a folder in the place of the machine's files. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { hostConfigDrive } from "../../src/inventory/hosts/config-drive.ts";
import { nodeBinary } from "../../test/kubernetes/assets/node-binaries.ts";
import { programs } from "../../test/kubernetes/cluster-api/clusterctl.ts";

const name = nodeBinary("bootstrap-data", "1.36", "amd64");
// Built anew where its sources have changed since: a program of earlier ones says nothing of these.
const built = process.arch === "x64" ? await programs(name) : new Error("it is built for amd64 alone");
const program = built instanceof Error ? name : join(built, name);
const skip = built instanceof Error && `bootstrap-data can't be had here: ${built.message}`;

interface Outcome {
  code: number | null;
  said: string;
  /** A file below the root. */
  text(path: string): string;
  /** In octal. */
  mode(path: string): string;
}

function carriedOut(t: TestContext, userData: string | Buffer, metaData = ""): Outcome {
  return carriedOutOf(t, { "user-data": userData, "meta-data": metaData });
}

/** What comes of a disk with these files. */
function carriedOutOf(t: TestContext, files: Readonly<Record<string, string | Buffer>>): Outcome {
  const folder = mkdtempSync(join(tmpdir(), "slipway-bootstrap-data-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const [root, disk] = [join(folder, "root"), join(folder, "disk")];
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(disk, path)), { recursive: true });
    writeFileSync(join(disk, path), content);
  }
  const { status, stderr } = spawnSync(program, ["--root", root, "--disk", disk], { encoding: "utf8" });
  return {
    code: status,
    said: stderr,
    text: (path) => readFileSync(join(root, path), "utf8"),
    mode: (path) => (statSync(join(root, path)).mode & 0o7777).toString(8),
  };
}

test("Cluster API's bootstrap data: files with their modes, names from the meta data, commands as one script", {
  skip,
}, (t) => {
  const seen = carriedOut(
    t,
    `## template: jinja
#cloud-config

write_files:
-   path: /run/kubeadm/kubeadm-join-config.yaml
    owner: root:root
    permissions: '0640'
    content: |
      name: '{{ ds.meta_data.local_hostname }}'
      provider: x://{{ v1.instance_id }}
runcmd:
  - "echo 'before'"
  - [sh, -c, "echo it's a list"]
  - 'kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml  && echo success > /run/cluster-api/bootstrap-success.complete'
`,
    "instance-id: i-7\nlocal-hostname: worker-1\n",
  );
  assert.deepEqual([seen.code, seen.said], [0, ""]);
  assert.equal(seen.text("run/kubeadm/kubeadm-join-config.yaml"), "name: 'worker-1'\nprovider: x://i-7\n");
  assert.equal(seen.mode("run/kubeadm/kubeadm-join-config.yaml"), "640");
  assert.equal(seen.text("etc/hostname"), "worker-1\n");
  assert.equal(
    seen.text("var/lib/cloud/instance/scripts/runcmd"),
    `#!/bin/sh
echo 'before'
'sh' '-c' 'echo it'\\''s a list'
kubeadm join --config /run/kubeadm/kubeadm-join-config.yaml  && echo success > /run/cluster-api/bootstrap-success.complete
`,
  );
});

test("a config drive, as a BareMetalHost's agent writes it, is read like cidata; one without user data is none", {
  skip,
}, (t) => {
  const host = { name: "worker-1", namespace: "default", uid: "0b0e" };
  const userData =
    "## template: jinja\n#cloud-config\nwrite_files: [{path: /etc/a, content: '{{ ds.meta_data.local_hostname }} {{ v1.instance_id }}'}]\n";
  const seen = carriedOutOf(t, hostConfigDrive(host, { userData: { userData } }));
  assert.deepEqual([seen.code, seen.said], [0, ""]);
  assert.deepEqual([seen.text("etc/a"), seen.text("etc/hostname")], ["worker-1 0b0e", "worker-1\n"]);
  const none = carriedOutOf(t, hostConfigDrive(host, {}));
  assert.equal(none.code, 3);
  assert.match(none.said, /no user data/);
});

test("contents are decoded, appended, and written late where they are to be", { skip }, (t) => {
  const packed = gzipSync("packed\n").toString("base64");
  const seen = carriedOut(
    t,
    `#cloud-config
write_files:
- {path: /etc/a, content: ${Buffer.from("one\n").toString("base64")}, encoding: b64, permissions: '0600'}
- {path: /etc/a, content: "three\\n", append: true, defer: true}
- {path: /etc/a, content: "two\\n", append: true}
- {path: /etc/b, content: "${packed}", encoding: gz+b64, permissions: 0755}
`,
  );
  assert.equal(seen.code, 0, seen.said);
  assert.equal(seen.text("etc/a"), "one\ntwo\nthree\n");
  assert.deepEqual([seen.text("etc/b"), seen.mode("etc/b")], ["packed\n", "755"]);
});

test("users are made once and let in by their keys; time servers and the host's name are written", { skip }, (t) => {
  const seen = carriedOut(
    t,
    `#cloud-config
hostname: worker-2.example.org
ntp: {enabled: true, servers: [10.0.0.1]}
ssh_authorized_keys: [ssh-ed25519 AAAA root]
users:
- default
- {name: ada, shell: /bin/bash, ssh_authorized_keys: [ssh-ed25519 BBBB ada]}
- {name: ada, ssh_authorized_keys: [ssh-ed25519 CCCC ada]}
`,
  );
  assert.equal(seen.code, 0, seen.said);
  assert.equal(seen.text("etc/hostname"), "worker-2\n");
  assert.equal(seen.text("etc/ntp.conf"), "server 10.0.0.1\n");
  assert.match(seen.text("etc/passwd"), /^ada:x:\d+:\d+::\/home\/ada:\/bin\/bash\n$/);
  assert.equal(seen.text("home/ada/.ssh/authorized_keys"), "ssh-ed25519 BBBB ada\nssh-ed25519 CCCC ada\n");
  assert.equal(seen.mode("home/ada/.ssh"), "700");
  assert.equal(seen.text("root/.ssh/authorized_keys"), "ssh-ed25519 AAAA root\n");
});

test("a script, parts of a MIME message and what is packed are taken, too", { skip }, (t) => {
  assert.equal(
    carriedOut(t, "#!/bin/sh\necho hello\n").text("var/lib/cloud/instance/scripts/user-data"),
    "#!/bin/sh\necho hello\n",
  );
  const message = `Content-Type: multipart/mixed; boundary="=="
MIME-Version: 1.0

--==
Content-Type: text/cloud-config

#cloud-config
hostname: parted
--==
Content-Type: text/x-shellscript
Content-Transfer-Encoding: base64

${Buffer.from("#!/bin/sh\ntrue\n").toString("base64")}
--==--
`;
  const seen = carriedOut(t, gzipSync(message));
  assert.equal(seen.code, 0, seen.said);
  assert.equal(seen.text("etc/hostname"), "parted\n");
  assert.equal(seen.text("var/lib/cloud/instance/scripts/user-data"), "#!/bin/sh\ntrue\n");
});

test("what is not known is named and left alone; what can't be read is refused", { skip }, (t) => {
  const unknown = carriedOut(t, "#cloud-config\ndisk_setup: {}\nhostname: a\n");
  assert.equal(unknown.code, 0);
  assert.match(unknown.said, /disk_setup: not known here/);
  assert.equal(unknown.text("etc/hostname"), "a\n");
  const ignition = carriedOut(t, '{"ignition": {}}');
  assert.equal(ignition.code, 1);
  assert.match(ignition.said, /#cloud-config or #! was expected/);
  assert.match(
    carriedOut(t, "#cloud-config\nwrite_files: [{path: /a, content: a, permissions: rw}]\n").said,
    /write_files \/a: /,
  );
});
