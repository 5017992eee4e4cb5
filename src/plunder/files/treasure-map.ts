/** plunder's parlay maps: what is done on which machines, over SSH, in which order. */
import { tryParseIp } from "@slipway/base";
import { z } from "zod";
import { flag, isSaid, lines, text } from "./texts.ts";

export const ACTION_TYPES = ["upload", "download", "command", "pkg", "key"] as const;

/** A day. */
const MOST_SECONDS = 86_400;
const NAME = /^[\w][\w .:/-]{0,127}$/;

const keyName = z
  .string("a name is needed")
  .regex(/^([A-Za-z0-9][\w.-]{0,62})?$/, "a name is letters, digits, dots, dashes and _")
  .optional();
const path = text.refine(
  (value) => !isSaid(value) || value.length <= 4096,
  "a path of at most 4096 characters is needed",
);
const user = z
  .string("the name of a user is needed")
  .regex(/^([a-z_][a-z0-9_-]{0,31})?$/, "must be a user name (lower-case letters, digits, - and _)")
  .optional();

const ActionFields = z.strictObject({
  name: z.string("a name is needed").regex(NAME, "a name is 1 to 128 letters, digits, blanks and ._:/-"),
  type: z.string("one of upload, download, command, pkg, key is needed"),
  /** Seconds; 0 is the usual. */
  timeout: z
    .int("a number of seconds is needed")
    .min(0)
    .max(MOST_SECONDS, `at most ${MOST_SECONDS} seconds`)
    .optional(),
  source: path,
  destination: path,
  fileMove: z.union([z.string(), z.boolean()]).optional(),
  packageManager: text,
  packageOperation: text,
  packages: text,
  command: lines,
  commands: z
    .array(z.string().max(64 * 1024))
    .max(1_000)
    .nullable()
    .optional(),
  commandLocal: flag,
  commandSaveFile: path,
  commandSaveAsKey: keyName,
  commandSudo: user,
  commandPipeFile: path,
  commandPipeCmd: lines,
  ignoreFail: flag,
  keyFile: path,
  keyName,
  plugin: z.unknown().optional(),
});
export type ActionFields = z.output<typeof ActionFields>;

const host = z
  .string("an address is needed")
  .refine(
    (value) =>
      tryParseIp(value) !== undefined ||
      /^(?=.{1,253}$)[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/.test(value),
    "must be an address or the name of a host",
  );

const MapDeployment = z.strictObject({
  name: z.string("a name is needed").regex(NAME, "a name is 1 to 128 letters, digits, blanks and ._:/-"),
  hosts: z.array(host).min(1, "an address is needed").max(1_000),
  parallel: flag,
  parallelSessions: z.int("a whole number from 0 is needed").min(0).max(64, "at most 64").optional(),
  actions: z.array(ActionFields).min(1, "an action is needed").max(1_000),
});

export const TreasureMap = z.strictObject({
  deployments: z.array(MapDeployment).min(1, "a deployment is needed").max(100),
});
export type TreasureMap = z.output<typeof TreasureMap>;
