/** A profile for each installer, and its Secret in a world. */
import { Secret } from "@slipway/kube/core";
import { type InventoryWorld, RACK } from "./inventory-world.ts";

const SYSTEM = `
kernel: http://web.invalid/linux
initrd: http://web.invalid/initrd.gz
user:
  name: ops
  sshKeys: []
  passwordHash: $6$salt$hashhashhash
`;

export const PROFILES = {
  preseed: SYSTEM,
  kickstart: `${SYSTEM}release: 9\nmirror: http://web.invalid/rocky\n`,
  autoinstall: `${SYSTEM}iso: http://web.invalid/ubuntu.iso\n`,
  harvester: `
isoUrl: http://web.invalid/harvester-v1.4.0-amd64.iso
serverUrl: https://10.0.0.10
token: secret
passwordHash: $6$salt$hashhashhash
`,
} as const;

export async function profile(world: InventoryWorld, name: string, text: string): Promise<void> {
  const metadata = { name, namespace: RACK };
  await world.whileTimePasses(world.client.create(Secret, { metadata, stringData: { profile: text } }));
}
