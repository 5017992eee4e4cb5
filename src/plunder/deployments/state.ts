/** What plunder's server keeps of deployments, as it lies on the disk. */
import { z } from "zod";
import { BootConfig } from "../files/boot-config.ts";
import { Deployment, HostConfig } from "../files/deployment.ts";

const Claim = z.strictObject({
  /** Uid of the object. */
  id: z.string(),
  /** As messages name it. */
  holder: z.string(),
  /** Where the machine's cloud-init finds its data: a secret. */
  seedUrl: z.string(),
  createdAt: z.number(),
  /** Set: its machine is being wiped. `failed`: the last attempt, whose number is the one before. */
  release: z
    .strictObject({
      attempt: z.number(),
      failed: z.strictObject({ at: z.number(), message: z.string() }).exactOptional(),
    })
    .exactOptional(),
});
export type Claim = Readonly<z.output<typeof Claim>>;

/** What is left of a claim whose machine is wiped. */
const Wiped = z.strictObject({
  claim: z.string(),
  holder: z.string(),
  mac: z.string(),
  hostname: z.string(),
  createdAt: z.number(),
  proof: z.string(),
});
export type Wiped = Readonly<z.output<typeof Wiped>>;

const Kept = z.strictObject({
  deployment: Deployment,
  /** Of the installation that is made of it. */
  id: z.string(),
  ended: z.strictObject({ ok: z.boolean(), message: z.string(), at: z.number() }).exactOptional(),
  claim: Claim.exactOptional(),
});
/** A deployment, and what became of it. */
export type KeptDeployment = Readonly<z.output<typeof Kept>>;

export const State = z.strictObject({
  bootConfigs: z.array(BootConfig),
  globalConfig: HostConfig,
  deployments: z.array(Kept),
  wiped: z.array(Wiped).exactOptional(),
});
export type State = Readonly<z.output<typeof State>>;
