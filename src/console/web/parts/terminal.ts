/** xterm.js under a content security policy that allows no style elements: what it writes into those goes into sheets of the document. */
import { FitAddon } from "@xterm/addon-fit";
import { Terminal } from "@xterm/xterm";

export interface OpenTerminal {
  write(text: string): void;
  /** As it was when it was opened. */
  reset(): void;
  close(): void;
}

/** Opens a terminal that only shows: nothing that is typed into it is sent. */
export function openTerminal(box: HTMLElement, label: string): OpenTerminal {
  const sheets: CSSStyleSheet[] = [];
  const terminal = new Terminal({
    ...{ disableStdin: true, convertEol: true, scrollback: 5_000, fontSize: 13, screenReaderMode: true },
    theme: { background: "#101418", foreground: "#e6e9ec" },
  });
  const fit = new FitAddon();
  terminal.loadAddon(fit);
  openWithSheets(terminal, box, sheets);
  box.setAttribute("role", "group");
  box.setAttribute("aria-label", label);
  fit.fit();
  const observer = new ResizeObserver(() => fit.fit());
  observer.observe(box);
  return {
    write: (text) => terminal.write(text),
    reset: () => terminal.reset(),
    close() {
      observer.disconnect();
      terminal.dispose();
      document.adoptedStyleSheets = document.adoptedStyleSheets.filter((sheet) => !sheets.includes(sheet));
    },
  };
}

/** Opens it while the document makes, in place of style elements, empty ones whose text is put into constructed sheets. */
function openWithSheets(terminal: Terminal, box: HTMLElement, sheets: CSSStyleSheet[]): void {
  const make = document.createElement.bind(document) as (name: string, options?: ElementCreationOptions) => HTMLElement;
  document.createElement = ((name: string, options?: ElementCreationOptions) =>
    name === "style" ? styleElement(sheets) : make(name, options)) as typeof document.createElement;
  try {
    terminal.open(box);
  } finally {
    // What hid the method of all documents.
    Reflect.deleteProperty(document, "createElement");
  }
}

function styleElement(sheets: CSSStyleSheet[]): HTMLElement {
  const sheet = new CSSStyleSheet();
  sheets.push(sheet);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  const element = document.createElement("span");
  element.hidden = true;
  Object.defineProperty(element, "textContent", { set: (text: string) => sheet.replaceSync(text), get: () => "" });
  Object.defineProperty(element, "sheet", { get: () => sheet });
  return element;
}
