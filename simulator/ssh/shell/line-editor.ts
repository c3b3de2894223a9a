import type { Terminal } from './command.ts'
import type { Key } from './keys.ts'
import { position } from './width.ts'

/** The effect of a key: text for the screen, and the line if it is finished (`undefined` means end of input). */
export interface Edit {
  screen: string
  done?: { line: string | undefined }
}

/** Characters a line may have. */
const longestLine = 256 * 1024

/** One line as it is typed after a prompt, with a history to go back to. */
export class LineEditor {
  readonly #terminal: Terminal
  readonly #history: readonly string[]
  readonly #prompt: string
  /** Columns the prompt takes. */
  readonly #promptWidth: number
  #characters: string[] = []
  #cursor = 0
  #historyIndex: number
  /** The line typed before going back in history. */
  #draft = ''

  constructor(terminal: Terminal, history: readonly string[], prompt: string) {
    this.#terminal = terminal
    this.#history = history
    this.#prompt = prompt
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colours of the prompt
    this.#promptWidth = [...prompt.replace(/\x1b\][^\x07\x1b]*\x07|\x1b\[[0-9;]*m/g, '')].length
    this.#historyIndex = history.length
  }

  /** Handles a key; gives the output that shows it. */
  press(key: Key): Edit {
    switch (key.name) {
      case 'text':
        return { screen: this.#insert(key.text) }
      case 'enter':
        return {
          screen: `${this.#moveTo(this.#characters.length)}\r\n`,
          done: { line: this.#characters.join('') },
        }
      case 'interrupt':
        return { screen: `${this.#moveTo(this.#characters.length)}^C\r\n`, done: { line: '' } }
      case 'end of input':
        if (this.#characters.length === 0) return { screen: '', done: { line: undefined } }
        return { screen: this.#remove(this.#cursor, this.#cursor + 1) }
      case 'clear screen':
        return { screen: `\x1b[H\x1b[2J${this.#prompt}${this.#write(0, 'nothing left over')}` }
      case 'backspace':
        return { screen: this.#remove(this.#cursor - 1, this.#cursor) }
      case 'delete':
        return { screen: this.#remove(this.#cursor, this.#cursor + 1) }
      case 'kill line':
        return { screen: this.#remove(0, this.#cursor) }
      case 'kill rest':
        return { screen: this.#remove(this.#cursor, this.#characters.length) }
      case 'kill word':
        return { screen: this.#remove(this.#wordStart(), this.#cursor) }
      case 'left':
        return { screen: this.#moveTo(this.#cursor - 1) }
      case 'right':
        return { screen: this.#moveTo(this.#cursor + 1) }
      case 'home':
        return { screen: this.#moveTo(0) }
      case 'end':
        return { screen: this.#moveTo(this.#characters.length) }
      case 'up':
        return { screen: this.#recall(this.#historyIndex - 1) }
      case 'down':
        return { screen: this.#recall(this.#historyIndex + 1) }
      case 'tab':
        return { screen: '\x07' }
    }
  }

  #insert(text: string): string {
    const added = [...text]
    if (this.#characters.length + added.length > longestLine) return '\x07'
    const from = this.#cursor
    // Not splice(...added): a pasted line may have more characters than a call may have arguments.
    this.#characters = this.#characters.slice(0, from).concat(added, this.#characters.slice(from))
    this.#cursor += added.length
    return this.#write(from, 'nothing left over')
  }

  #remove(from: number, to: number): string {
    const start = Math.max(0, from)
    if (start >= Math.min(to, this.#characters.length)) return ''
    const back = this.#moveTo(start)
    this.#characters.splice(start, to - start)
    return `${back}${this.#write(start, 'erase the rest')}`
  }

  #recall(index: number): string {
    if (index < 0 || index > this.#history.length || index === this.#historyIndex) return ''
    if (this.#historyIndex === this.#history.length) this.#draft = this.#characters.join('')
    this.#historyIndex = index
    const back = this.#moveTo(0)
    this.#characters = [...(this.#history[index] ?? this.#draft)]
    this.#cursor = this.#characters.length
    return `${back}${this.#write(0, 'erase the rest')}`
  }

  #wordStart(): number {
    let start = this.#cursor
    while (start > 0 && this.#characters[start - 1] === ' ') start -= 1
    while (start > 0 && this.#characters[start - 1] !== ' ') start -= 1
    return start
  }

  #at(index: number): { row: number; column: number } {
    return position(this.#characters.slice(0, index), this.#terminal.columns, this.#promptWidth)
  }

  /** Writes the line from a character on, at the screen's cursor, and moves the cursor to its place. */
  #write(from: number, after: 'nothing left over' | 'erase the rest'): string {
    const rest = this.#characters.slice(from).join('')
    const end = this.#at(this.#characters.length)
    // At the last column a terminal delays wrapping; a space and a return force it.
    const wrap = end.column === 0 && rest !== '' ? ' \r' : ''
    const erase = after === 'erase the rest' ? '\x1b[J' : ''
    return `${rest}${wrap}${erase}${travel(end, this.#at(this.#cursor))}`
  }

  #moveTo(index: number): string {
    const target = Math.min(Math.max(0, index), this.#characters.length)
    const moved = travel(this.#at(this.#cursor), this.#at(target))
    this.#cursor = target
    return moved
  }
}

function travel(from: { row: number; column: number }, to: { row: number; column: number }): string {
  const rows = to.row - from.row
  const vertical = rows < 0 ? `\x1b[${-rows}A` : rows > 0 ? `\x1b[${rows}B` : ''
  const horizontal = to.column === from.column ? '' : `\x1b[${to.column + 1}G`
  return vertical + horizontal
}
