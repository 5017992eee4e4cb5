import { z } from "zod";

const FIRST_BOOT_FILES = [
  ...["user-data", "meta-data", "network-config"],
  ...["openstack/latest/meta_data.json", "openstack/latest/user_data", "openstack/latest/network_data.json"],
] as const;

/** What a user may order, in words that need nothing prepared: images and first-boot data are offered to the host by the service. */
export const UserOrder = z.discriminatedUnion("order", [
  z.strictObject({ order: z.literal("inspect") }),
  z.strictObject({ order: z.literal("reboot") }),
  z.strictObject({ order: z.literal("poweroff") }),
  z.strictObject({
    order: z.literal("wipe"),
    how: z.enum(["metadata", "discard", "full", "secure"]),
    disks: z.union([z.literal("all"), z.array(z.string().min(1)).min(1)]),
  }),
  z.strictObject({
    order: z.literal("write"),
    /** A file on the server's disk, or an URL that the host can reach. */
    image: z.string().min(1),
    /** Nobody on the way may read the image: it goes encrypted to the agent's key, which takes a file on the server's disk. */
    secret: z.boolean().optional(),
    /** By the image's name, unless said. */
    format: z.enum(["raw", "gz", "zst", "xz", "qcow2"]).optional(),
    checksum: z
      .string()
      .regex(/^(md5|sha256|sha512):[0-9a-f]+$/, "md5:, sha256: or sha512: and hexadecimal digits are needed")
      .optional(),
    /** The smallest disk that is not read-only, unless said. */
    disk: z.string().min(1).optional(),
    /** cloud-init's files by name: of NoCloud, or of a config drive. */
    data: z.partialRecord(z.enum(FIRST_BOOT_FILES), z.string()).optional(),
    label: z.enum(["cidata", "config-2"]).optional(),
  }),
]);
export type UserOrder = z.output<typeof UserOrder>;

/** What a host boots next, as a user says it. */
export const UserBoot = z.union(
  [
    z.enum(["agent", "disk", "wait"]),
    z.strictObject({ chain: z.string().regex(/^https?:\/\/\S+$/, "http:// or https:// and more is needed") }),
  ],
  "agent, disk, wait or the URL of a script is needed",
);

/** An approval as a user gives it: of the host, or of the boot whose key's fingerprint is given. */
export const UserApproval = z.strictObject({
  key: z
    .string()
    .toLowerCase()
    .regex(
      /^[0-9a-f]{4}(-[0-9a-f]{4}){5}$/,
      "six groups of four hexadecimal digits are needed, as the machine shows them",
    )
    .optional(),
});
