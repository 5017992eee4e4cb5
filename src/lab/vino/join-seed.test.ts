import assert from "node:assert/strict";
import { createHash, X509Certificate } from "node:crypto";
import { test } from "node:test";
import { VirtualClock } from "@slipway/base/virtual-clock";
import { dump, load } from "js-yaml";
import { createAuthority } from "../../pki/authority.ts";
import { joinSeed } from "./join-seed.ts";

interface Written {
  write_files: { path: string; content: string }[];
  runcmd: string[];
}

/** What a machine is given for a tenant at this server. */
async function seed(files?: Record<string, string>) {
  const { certificatePem: ca } = await createAuthority({ commonName: "kubernetes", clock: new VirtualClock() });
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const cluster = { server: "https://10.77.0.9:6443", "certificate-authority-data": base64(ca) };
  const user = { "client-certificate-data": base64(ca), "client-key-data": base64("key") };
  const kubeconfig = dump({
    ...{ apiVersion: "v1", kind: "Config", "current-context": "x" },
    clusters: [{ name: "x", cluster }],
    users: [{ name: "x", user }],
    contexts: [{ name: "x", context: { cluster: "x", user: "x" } }],
  });
  const { userData, metaData } = joinSeed("vm-1", {
    kubeconfig,
    token: "abcdef.0123456789abcdef",
    ...(files && { files }),
  });
  const { write_files: written, runcmd } = load(userData) as Written;
  return { ca, metaData, written, runcmd, head: userData.split("\n")[0] };
}

test("a machine joins its tenant by token and authority, under the name that its metadata has", async () => {
  const { ca, metaData, written, runcmd, head } = await seed();
  assert.deepEqual([head, metaData], ["## template: jinja", "instance-id: vm-1\nlocal-hostname: vm-1\n"]);
  const spki = new X509Certificate(ca).publicKey.export({ type: "spki", format: "der" });
  const { discovery, nodeRegistration } = load(written[0]!.content.replace(/^---\n/, "")) as Record<string, object>;
  assert.deepEqual(discovery, {
    bootstrapToken: {
      ...{ apiServerEndpoint: "10.77.0.9:6443", token: "abcdef.0123456789abcdef" },
      caCertHashes: [`sha256:${createHash("sha256").update(spki).digest("hex")}`],
    },
  });
  assert.equal((nodeRegistration as { name: string }).name, "{{ ds.meta_data.local_hostname }}");
  assert.equal(written.length, 2);
  assert.match(runcmd.join(), /^kubeadm join --config \/run\/kubeadm\/kubeadm-join-config\.yaml/);
});

test("further files are written as they are", async () => {
  const { written } = await seed({ "/etc/a": 'line "1"\n- b: c\n', "/etc/b": "" });
  assert.deepEqual(
    written.slice(2).map(({ path, content }) => [path, content]),
    [
      ["/etc/a", 'line "1"\n- b: c\n'],
      ["/etc/b", ""],
    ],
  );
});
