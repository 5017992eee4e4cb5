/** The key of simulated agents: what is encrypted to it can be read here alone, as a real agent reads its first-boot data. SIMULATION. */
import { offLoop } from "@slipway/base";

/** All simulated servers have the same, whatever boot it is: nothing about them is secret. */
export const SIM_AGENT_KEY = "age1d4n5vzt05luy3uk46gz5czdqkql0xcu6acj858k3ecvqm6062vqqmq28g5";
const IDENTITY = "AGE-SECRET-KEY-1453NFUHDWX2EZYPD67Y44GRZ62DFQK9MTTGKC4VDGQ3DNXP7TLVQW5K8UM";

/** The text of what was encrypted to the key; rejects for anything else. */
export async function opened(sealed: Uint8Array): Promise<string> {
  const { Decrypter } = await offLoop(import("age-encryption"));
  const decrypter = new Decrypter();
  decrypter.addIdentity(IDENTITY);
  return await offLoop(decrypter.decrypt(sealed, "text"));
}
