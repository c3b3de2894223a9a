/** A simple command in a text: from its first character to the one after its last. */
export interface ShellCommand {
  text: string
  start: number
}

/** Commands that are joined by pipes, and the operator before them. */
export interface Pipeline {
  commands: ShellCommand[]
  after: '' | ';' | '&&' | '||'
}

/** A word of a command as it is written, with its place in the whole text. */
export interface ShellWord {
  text: string
  start: number
  end: number
}

/** Parts in which no operator counts: escapes, quotes, simple substitutions, and redirections such as `2>&1`. */
const closed =
  /\\[\s\S]|'[^']*'|"(?:[^"\\`$]|\\[\s\S]|\$\([^()'"`]{0,500}\)|\$(?!\())*"|\$\(\([\w\s+*/$-]{1,100}\)\)|\$\([^()'"`]{0,500}\)|\d*>&\d+|&>>?|>\|/y
const operator = /&&|\|\||\|&?|;|\n/y

/**
 * The pipelines of a shell's text, in order. Undefined for what only a shell could read: subshells, loops, conditions,
 * functions, background commands, documents in the text, and substitutions that contain others.
 */
export function pipelinesOf(text: string): Pipeline[] | undefined {
  const pipelines: Pipeline[] = [{ commands: [], after: '' }]
  let start = 0
  let at = 0
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at
    return pattern.exec(text)?.[0]
  }
  const close = (end: number) => {
    const command = text.slice(start, end)
    if (command.trim() !== '') pipelines.at(-1)?.commands.push({ text: command, start })
  }
  while (at < text.length) {
    const part = match(closed)
    if (part !== undefined) {
      at += part.length
      continue
    }
    const sign = match(operator)
    if (sign !== undefined) {
      close(at)
      at += sign.length
      start = at
      const after = sign === '&&' || sign === '||' ? sign : ';'
      if (sign !== '|' && sign !== '|&') pipelines.push({ commands: [], after })
      continue
    }
    if (text[at] === '#' && /[\s;&|]/.test(text[at - 1] ?? ' ')) {
      close(at)
      const line = text.indexOf('\n', at)
      at = line < 0 ? text.length : line
      start = at
      continue
    }
    if (/[()`&"']/.test(text[at] ?? '') || text.startsWith('<<', at) || text.startsWith('$(', at))
      return undefined
    at++
  }
  close(text.length)
  const filled = pipelines.filter(({ commands }) => commands.length > 0)
  const isControlled = filled.some(({ commands }) =>
    commands.some(command => controls.has(shellWordsOf(command)[0]?.text ?? '')),
  )
  return isControlled ? undefined : filled
}

const controls = new Set(
  'if then else elif fi for while until do done case esac function { } ! [[ select'.split(' '),
)

const word = /(?:\\[\s\S]|'[^']*'|"(?:[^"\\]|\\[\s\S])*"|\$\(\([^)]*\)\)|\$\([^)]*\)|[^\s'"\\])+/g

/** The words of a command; a line that continues after `\` goes on. */
export function shellWordsOf({ text, start }: ShellCommand): ShellWord[] {
  return [...text.matchAll(word)].flatMap(({ 0: found, index }) =>
    found === '\\\n' ? [] : { text: found, start: start + index, end: start + index + found.length },
  )
}
