/**
 * A preseed file as data: answers to debconf's questions, one a line (`debconf-set-selections(1)`). There is no quoting: a line ends the
 * answer, a backslash before it goes on with the next, and blanks at the ends are lost. So what contains those is refused, never escaped.
 */
import { Fault } from "@slipway/base";

export type Answer =
  | { owner?: string; question: string; type: "string" | "select" | "multiselect" | "password"; value: string }
  | { owner?: string; question: string; type: "boolean"; value: boolean }
  | { owner?: string; question: string; type: "note" };

/** Answers for the installer itself, by the type of their question. */
export const text = (question: string, value: string): Answer => ({ question, type: "string", value });
/** One of the question's choices. */
export const choice = (question: string, value: string): Answer => ({ question, type: "select", value });
/** Yes to a question of type boolean. */
export const yes = (question: string): Answer => ({ question, type: "boolean", value: true });
/** No to a question of type boolean. */
export const no = (question: string): Answer => ({ question, type: "boolean", value: false });

const OWNER = /^[a-z0-9][a-z0-9+.-]*$/;
const QUESTION = /^[A-Za-z0-9][A-Za-z0-9+._-]*(\/[A-Za-z0-9+._-]+)+$/;

/** The file's text. Throws `Fault` (`Invalid`) that names the question for what debconf would read as something else, and for a second answer. */
export function preseedFile(answers: readonly Answer[]): string {
  const given = new Set<string>();
  const lines = answers.map((answer) => {
    const { owner = "d-i", question } = answer;
    if (!OWNER.test(owner)) throw refused(owner, "is not the name of a package");
    if (!QUESTION.test(question)) throw refused(question, "is not the name of a question");
    if (given.has(`${owner} ${question}`)) throw refused(question, "is answered twice");
    given.add(`${owner} ${question}`);
    return [owner, question, answer.type, answerText(answer)].join(" ").trimEnd();
  });
  return `${lines.join("\n")}\n`;
}

function answerText(answer: Answer): string {
  if (answer.type === "note") return "";
  if (answer.type === "boolean") return String(answer.value);
  const { question, value } = answer;
  if (/[\p{C}\p{Zl}\p{Zp}]/u.test(value)) throw refused(question, "has an answer with control characters");
  if (value !== value.trim()) throw refused(question, "has an answer that begins or ends with a blank");
  if (value.endsWith("\\")) throw refused(question, "has an answer that ends with a backslash");
  return value;
}

function refused(question: string, why: string): Fault {
  return new Fault("Invalid", "preseed", `${question} ${why}`);
}
