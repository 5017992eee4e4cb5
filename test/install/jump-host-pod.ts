/** A Pod of a jump host without a kubelet: its volumes as files, its container in networks of its own, and a host behind it. */
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { HOST_KEY, sshdConfig, USER } from "../../src/systems/sip/services/jump/ssh-files.ts";
import type { Rendered } from "../../src/systems/sip/services/rendered.ts";

/** Objects that the Pod mounts: Secrets have base64, ConfigMaps texts. */
export interface Mounted {
  kind: string;
  metadata: { name: string };
  data?: Record<string, string>;
}

interface Source {
  secretName?: string;
  name?: string;
  items?: { key: string; path: string }[];
  defaultMode?: number;
  optional?: boolean;
}
interface Pod {
  containers: [{ command: string[]; volumeMounts: { name: string; mountPath: string; subPath?: string }[] }];
  volumes: { name: string; secret?: Source; configMap?: Source }[];
  securityContext: { fsGroup: number };
}

/** Puts the files of the Pod's volumes below `root`; resolves with the container's command. */
export function mountVolumes(root: string, { deployment }: Rendered, objects: readonly Mounted[]): readonly string[] {
  const { containers, volumes, securityContext } = deployment.spec!.template!.spec as unknown as Pod;
  const [{ command, volumeMounts }] = containers;
  for (const { name, mountPath, subPath } of volumeMounts) {
    const volume = volumes.find((one) => one.name === name)!;
    for (const [path, text] of filesOf(volume, objects)) {
      if (subPath !== undefined && path !== subPath) continue;
      const file = join(root, subPath === undefined ? join(mountPath, path) : mountPath);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      chmodSync(file, (volume.secret ?? volume.configMap)!.defaultMode ?? 0o644);
      chownSync(file, 0, securityContext.fsGroup);
    }
  }
  return command;
}

function filesOf(
  { secret, configMap }: Pod["volumes"][number],
  objects: readonly Mounted[],
): readonly [string, Buffer][] {
  const source = (secret ?? configMap)!;
  const name = source.secretName ?? source.name;
  const kind = secret === undefined ? "ConfigMap" : "Secret";
  const data = objects.find((one) => one.kind === kind && one.metadata.name === name)?.data;
  if (data === undefined) {
    if (source.optional) return [];
    throw new Error(`there is no ${name}`);
  }
  const encoding = secret === undefined ? "utf8" : "base64";
  const items = source.items ?? Object.keys(data).map((key) => ({ key, path: key }));
  return items.map(({ key, path }) => [path, Buffer.from(data[key] ?? "", encoding)]);
}

/** A host of the sub-cluster at `address`, in a network behind the jump host's: the same files, with keys of its own. */
export interface Behind {
  address: string;
  hostKey: string;
  authorizedKey: string;
}

/** Who logs in from outside: files of private keys, and what each has the jump host do. */
export interface Login {
  key: string;
  command: string;
}

/** Runs the container, logs in once after the other, and ends it; what each login printed, and what the servers logged. Needs root. */
export function logIns(
  root: string,
  command: readonly string[],
  behind: Behind,
  logins: readonly Login[],
): { each: readonly { status: number; said: string }[]; log: string } {
  const far = join(root, "run/far");
  mkdirSync(far, { recursive: true });
  writeFileSync(join(far, HOST_KEY), behind.hostKey, { mode: 0o600 });
  writeFileSync(join(far, "authorized_keys"), `${behind.authorizedKey}\n`);
  const listen = `Port 22\nListenAddress ${behind.address}\nPidFile none\n`;
  writeFileSync(join(far, "sshd_config"), sshdConfig({ run: "/run/far", user: USER }).replace("Port 22\n", listen));
  const options =
    "-F none -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o BatchMode=yes -o LogLevel=ERROR";
  const each = logins.map(
    ({ key, command: asked }, at) =>
      `status=0; ssh ${options} -i ${key} ${USER}@127.0.0.1 '${asked}' >${root}/out-${at} 2>&1 </dev/null || status=$?; echo "status $status"; cat ${root}/out-${at}; echo "end of login"`,
  );
  const script = [
    "set -e",
    "mount -t tmpfs none /run; mkdir -p /run/netns",
    "ip link set lo up; ip netns add far",
    "ip link add near type veth peer name far netns far; ip link set near up; ip address add 10.0.0.254/24 dev near",
    `ip -n far link set far up; ip -n far address add ${behind.address}/24 dev far`,
    "mkdir -p ${0}/run/sshd",
    "ip netns exec far chroot $0 /usr/sbin/sshd -D -e -f /run/far/sshd_config 2>$0/far.log & ",
    'chroot $0 "$@" 2>$0/near.log & ',
    // Both listen: their names are known then.
    "tries=0; until ssh-keyscan -T 5 127.0.0.1 2>/dev/null | grep -q ed25519; do tries=$((tries+1)); [ $tries -lt 100 ] || { cat $0/near.log >&2; exit 9; }; sleep 0.2; done",
    `tries=0; until ssh-keyscan -T 5 ${behind.address} 2>/dev/null | grep -q ed25519; do tries=$((tries+1)); [ $tries -lt 100 ] || { cat $0/far.log >&2; exit 9; }; sleep 0.2; done`,
    ...each,
    "cat $0/near.log $0/far.log >&2",
  ].join("\n");
  const apart = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private"];
  const ran = spawnSync("unshare", [...apart, "sh", "-c", script, root, ...command], { timeout: 300_000 });
  const said = ran.stdout.toString();
  if (ran.status !== 0) throw new Error(`the Pod ended with ${ran.status}: ${said}${ran.stderr}`);
  const ended = said
    .split("end of login\n")
    .slice(0, -1)
    .map((one) => {
      const [, status = "", rest = ""] = /^status (\d+)\n([\s\S]*)$/.exec(one) ?? [];
      return { status: Number(status), said: rest };
    });
  return { each: ended, log: ran.stderr.toString() };
}
