import type { Random } from "@slipway/base";
import type { Hosts } from "../hosts/hosts.ts";
import type { Command } from "../tpm/commands.ts";
import { identify, type Round, type TpmIdentity } from "../tpm/identify.ts";

/** Machines that are asked at one time; the oldest makes room, and begins anew. */
const MOST = 1_000;
/** Commands of a round, and digits of an answer (4096 bytes are a TPM's most). */
const MOST_ANSWERS = 16;
const MOST_DIGITS = 8_192;

type Stage = { is: "shows"; round: Round<Round<TpmIdentity>> } | { is: "proves"; round: Round<TpmIdentity> };

/** What each agent is asked about its TPM, and where it is with that. In memory: after a restart it is asked anew. */
export class TpmProofs {
  readonly #hosts: Pick<Hosts, "proved">;
  readonly #random: Random;
  readonly #stages = new Map<string, { token: string; stage: Stage }>();

  constructor(hosts: Pick<Hosts, "proved">, random: Random) {
    this.#hosts = hosts;
    this.#random = random;
  }

  /**
   * What the host's TPM is to do next, by its answers to what came before; undefined: nothing more, all is known that will be. No answers: it begins.
   * Throws a `Fault` (`Invalid`) for answers that prove nothing: then it begins anew. `token`: of the agent's session, which another may not go on with.
   */
  next(host: string, token: string, lines: readonly string[]): readonly Command[] | undefined {
    const answers = lines.filter((line) => line !== "");
    const asked = this.#stages.get(host);
    this.#stages.delete(host);
    if (answers.length === 0 || asked?.token !== token)
      return this.#ask(host, token, { is: "shows", round: identify(this.#random) });
    const read = answers.slice(0, MOST_ANSWERS).map((line) => Buffer.from(line.slice(0, MOST_DIGITS), "hex"));
    const { stage } = asked;
    if (stage.is === "shows") return this.#ask(host, token, { is: "proves", round: stage.round.answered(read) });
    this.#hosts.proved(host, stage.round.answered(read));
    return undefined;
  }

  #ask(host: string, token: string, stage: Stage): readonly Command[] {
    if (this.#stages.size >= MOST) this.#stages.delete(this.#stages.keys().next().value!);
    this.#stages.set(host, { token, stage });
    return stage.round.commands;
  }
}
