import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { HttpRequest } from "@slipway/base";
import { plain } from "@slipway/base";
import { serveHttp } from "@slipway/base/http-server";
import { FakeMachine } from "../../netboot/agent/testing.ts";
import { installerDesk, PLAN_PATH, type Steps } from "./installer-desk.ts";

const PROGRAM = join(import.meta.dirname, "program");
const skip = ["jq", "curl"].find((name) => !existsSync(`/usr/bin/${name}`));
const options = { skip: skip !== undefined && `not installed: ${skip}` };
const COMMAND_LINE = `initrd=i ip=dhcp root=live:http://10.77.0.1/harvester-v1.8.1-rootfs-amd64.squashfs \
harvester.install.automatic=true harvester.install.skipchecks=true harvester.scheme_version=1 \
harvester.install.management_interface.interfaces="hwAddr:52:54:00:77:00:01" harvester.install.management_interface.method=dhcp \
console=tty0 console=ttyS1,115200n8 harvester.install.config_url=http://10.77.0.1/config
`;
const CONFIG = `#cloud-config
scheme_version: 1
server_url: https://10.77.0.2:443
token: join-"me"
os: {hostname: lab-pool-a, password: hidden}
install: {mode: join, device: /dev/nvme0n1, iso_url: "http://10.77.0.1/harvester-v1.8.1-amd64.iso"}
`;

/** A machine with one card and one NVMe disk, which has two partitions. */
function machine(): FakeMachine {
  const one = new FakeMachine();
  one.file("command-line", COMMAND_LINE);
  one.file("cpus", "processor\t: 0\nprocessor\t: 1\n");
  one.file("memory", "MemTotal:        1014052 kB\nMemFree: 1 kB\n");
  one.file("sys/class/dmi/id/product_uuid", "534C4950-5741-4000-8000-000000000001\n");
  one.card("enp0s3", "52:54:00:77:00:01");
  const device = { model: "QEMU NVMe Ctrl  \n", serial: "SLIPWAY1   \n", firmware_rev: "1\n" };
  one.disk("nvme0n1", "pci0000:00/0000:00:03.0/nvme/nvme0", { bytes: 4 * 2 ** 30, device });
  for (const number of [1, 2]) one.file(`sys/block/nvme0n1/nvme0n1p${number}/partition`, `${number}\n`);
  return one;
}

/** Runs a script with the program of the installer or of the system known to it. */
function run(one: FakeMachine, part: "installer" | "system", script: string): Promise<string> {
  const facts = `COMMAND_LINE=${one.folder}/command-line CPUS=${one.folder}/cpus MEMORY=${one.folder}/memory`;
  return one.sh(`${facts} SOURCED=1 PROGRAM=${PROGRAM} ADDRESS=10.77.0.50\n. "$PROGRAM/${part}.sh"\n${script}`);
}

test("of kernel arguments that are repeated the last counts, and quotes are not part of them", options, async (t) => {
  const one = machine();
  t.after(() => one.close());
  const script = `argument console
argument harvester.install.management_interface.interfaces; argument missing`;
  assert.equal(await run(one, "installer", script), "ttyS1,115200n8\nhwAddr:52:54:00:77:00:01\n");
});

test("what the installer says of its machine is what the desk reads and judges", options, async (t) => {
  const one = machine();
  t.after(() => one.close());
  const ask = async (): Promise<{ status: number; body: string }> => {
    const body = await run(one, "installer", "visitor_json");
    return await installerDesk({ method: "POST", url: `http://a${PLAN_PATH}`, headers: {}, body, remote: "" });
  };
  one.file("run/work/config", CONFIG);
  const onBios = await ask();
  assert.match(onBios.body, /installs on UEFI only/);

  one.file("sys/firmware/efi/runtime", "0x0\n");
  const given = await ask();
  assert.equal(given.status, 200, given.body);
  const { disk, tty, system } = JSON.parse(given.body) as Steps;
  assert.deepEqual(
    [disk, tty, system.hostname, system.token],
    ["nvme0n1", "ttyS1,115200n8", "lab-pool-a", 'join-"me"'],
  );
});

test(
  "each call of an event is made as it is written, and one that fails does not keep the next from being made",
  options,
  async (t) => {
    const one = machine();
    const asked: HttpRequest[] = [];
    const server = await serveHttp(async (request) => {
      asked.push(request);
      return plain(asked.length === 1 ? 500 : 204, "");
    });
    t.after(async () => {
      await server.close();
      one.close();
    });
    const call = { method: "POST", url: `${server.url}/a?b="c"`, headers: ['x-name: a "b"'], body: '{"a": "b\\n"}' };
    const steps = { calls: { STARTED: [call, { ...call, method: "PUT", headers: [], body: "" }] } };
    one.file("run/work/steps", JSON.stringify(steps));
    await run(one, "installer", "call STARTED 2>/dev/null; call FAILED");
    assert.deepEqual(
      asked.map(({ method, headers, body }) => [method, headers?.["x-name"], body]),
      [
        ["POST", 'a "b"', '{"a": "b\\n"}'],
        ["PUT", undefined, undefined],
      ],
    );
  },
);

test("the system finds what the installer has left on its second partition", options, async (t) => {
  const one = machine();
  t.after(() => one.close());
  const state = { hostname: "lab-pool-a", serverUrl: "https://10.77.0.2:443", token: "join-me" };
  const script = 'find_state && known hostname && known token || echo "nothing"';
  assert.equal(await run(one, "system", script), "nothing\n");
  one.file("dev/nvme0n1p2", Buffer.concat([Buffer.from(`${JSON.stringify(state)}\n`), Buffer.alloc(4096)]));
  assert.equal(await run(one, "system", script), "lab-pool-a\njoin-me\n");
});

test("a disk that is too small for the system is said to be", options, async (t) => {
  const one = machine();
  t.after(() => one.close());
  one.file("sys/block/nvme0n1/size", `${(100 * 2 ** 20) / 512}\n`);
  const script = 'problem=$(install_system nvme0n1) && echo installed || echo "$problem"';
  assert.equal(await run(one, "installer", script), "/dev/nvme0n1 has less than 195 MiB\n");
});
