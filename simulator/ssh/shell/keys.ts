import { StringDecoder } from 'node:string_decoder'

export type Key =
  | { name: 'text'; text: string }
  | { name: 'enter' | 'backspace' | 'delete' | 'left' | 'right' | 'home' | 'end' | 'up' | 'down' | 'tab' }
  | { name: 'interrupt' | 'end of input' | 'clear screen' | 'kill line' | 'kill rest' | 'kill word' }

const controls: Record<string, Key> = {
  '\r': { name: 'enter' },
  '\n': { name: 'enter' },
  '\t': { name: 'tab' },
  '\x7f': { name: 'backspace' },
  '\b': { name: 'backspace' },
  '\x01': { name: 'home' },
  '\x02': { name: 'left' },
  '\x03': { name: 'interrupt' },
  '\x04': { name: 'end of input' },
  '\x05': { name: 'end' },
  '\x06': { name: 'right' },
  '\x0b': { name: 'kill rest' },
  '\x0c': { name: 'clear screen' },
  '\x0e': { name: 'down' },
  '\x10': { name: 'up' },
  '\x15': { name: 'kill line' },
  '\x17': { name: 'kill word' },
}

const sequences: Record<string, Key> = {
  A: { name: 'up' },
  B: { name: 'down' },
  C: { name: 'right' },
  D: { name: 'left' },
  H: { name: 'home' },
  F: { name: 'end' },
  '1~': { name: 'home' },
  '7~': { name: 'home' },
  '4~': { name: 'end' },
  '8~': { name: 'end' },
  '3~': { name: 'delete' },
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: keys are control characters
const escapeSequence = /^\x1b(?:\[([0-9;?]*[ -/]*[@-~])|O([A-Z])|[^[O])/
// biome-ignore lint/suspicious/noControlCharactersInRegex: keys are control characters
const ordinary = /^[^\x00-\x1f\x7f]+/
/** Longer sequences are dropped: a client that never ends one must not fill memory. */
const longestSequence = 64

/** Decodes a terminal's bytes into keys, across packets. */
export class KeyReader {
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''

  /** The keys completed by these bytes. Unknown sequences and control characters are dropped. */
  read(bytes: Buffer): Key[] {
    const keys: Key[] = []
    let text = this.#rest + this.#decoder.write(bytes)
    while (text !== '') {
      const found = ordinary.exec(text)?.[0]
      if (found !== undefined) {
        keys.push({ name: 'text', text: found })
        text = text.slice(found.length)
        continue
      }
      if (text.startsWith('\x1b')) {
        const sequence = escapeSequence.exec(text)
        if (sequence === null && text.length < longestSequence) break
        const key = sequences[sequence?.[1] ?? sequence?.[2] ?? '']
        if (key !== undefined) keys.push(key)
        text = text.slice(sequence?.[0].length ?? 1)
        continue
      }
      const key = controls[text.charAt(0)]
      if (key !== undefined) keys.push(key)
      // A line that ends in CR LF is one line.
      text = text.slice(text.startsWith('\r\n') ? 2 : 1)
    }
    this.#rest = text
    return keys
  }
}
