import type { Clock, Random } from "@slipway/base";
import type { Hosts } from "../hosts/hosts.ts";
import type { TpmAuthorities } from "../tpm/authorities.ts";
import type { Command } from "../tpm/commands.ts";
import { identify, type Round } from "../tpm/identify.ts";
import { checkCertificate } from "../tpm/maker-certificate.ts";

/** Machines that are asked at one time; the oldest makes room, and begins anew. */
const MOST = 1_000;
/** Commands of a round, and digits of an answer (4096 bytes are a TPM's most). */
const MOST_ANSWERS = 48;
const MOST_DIGITS = 8_192;

export interface TpmProofsPorts {
  hosts: Pick<Hosts, "proved">;
  clock: Pick<Clock, "now">;
  random: Random;
  /** Makers of TPMs that are believed. Unset: certificates are recorded only. */
  authorities?: TpmAuthorities;
}

/** What each agent is asked about its TPM, and where it is with that. In memory: after a restart it is asked anew. */
export class TpmProofs {
  readonly #ports: TpmProofsPorts;
  readonly #rounds = new Map<string, { token: string; round: Round }>();

  constructor(ports: TpmProofsPorts) {
    this.#ports = ports;
  }

  /**
   * What the host's TPM is to do next, by its answers to what came before; undefined: nothing more, all is known that will be. No answers: it begins.
   * Throws a `Fault` (`Invalid`) for answers that prove nothing: then it begins anew. `token`: of the agent's session, which another may not go on with.
   */
  next(host: string, token: string, lines: readonly string[]): readonly Command[] | undefined {
    const { hosts, clock, random, authorities } = this.#ports;
    const answers = lines.filter((line) => line !== "");
    const asked = this.#rounds.get(host);
    this.#rounds.delete(host);
    if (answers.length === 0 || asked?.token !== token) return this.#ask(host, token, identify(random));
    const read = answers.slice(0, MOST_ANSWERS).map((line) => Buffer.from(line.slice(0, MOST_DIGITS), "hex"));
    const step = asked.round.answered(read);
    if (step.is === "asks") return this.#ask(host, token, step);
    const certificate = checkCertificate(step.stored, { key: step.key, authorities, now: clock.now() });
    hosts.proved(host, { ...step.identity, certificate });
    return undefined;
  }

  #ask(host: string, token: string, round: Round): readonly Command[] {
    if (this.#rounds.size >= MOST) this.#rounds.delete(this.#rounds.keys().next().value!);
    this.#rounds.set(host, { token, round });
    return round.commands;
  }
}
