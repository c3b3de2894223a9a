import { reason } from '../files/file-error.ts'
import { absolute, type Call } from '../shell/command.ts'
import { readRegular } from '../shell/redirect.ts'

const pieceSize = 16 * 1024
/** Longer lines come in parts: input without line ends must not fill memory. */
const longestLine = 1024 * 1024

/**
 * Calls `use` with the bytes of each file, or of the input where no file (or `-`) is named. Prints which files could
 * not be read; gives the exit status, 1 if there was one.
 */
export async function eachSource(
  call: Call,
  files: string[],
  use: (pieces: AsyncIterable<Buffer>, file: string | undefined) => Promise<void>,
): Promise<number> {
  let status = 0
  for (const file of files.length === 0 ? ['-'] : files) {
    if (file === '-') {
      await use(inputPieces(call), undefined)
      continue
    }
    let bytes: Buffer
    try {
      bytes = readRegular(call.shell.files, absolute(call.shell, file))
    } catch (error) {
      await call.err(`${call.name}: ${file}: ${reason(error)}\n`)
      status = 1
      continue
    }
    await use(filePieces(bytes), file)
  }
  return status
}

async function* inputPieces({ input, signal }: Call): AsyncGenerator<Buffer> {
  if (input === undefined) return
  for await (const piece of input.iterator({ destroyOnReturn: false })) {
    signal.throwIfAborted()
    yield Buffer.from(piece)
  }
}

async function* filePieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += pieceSize) yield bytes.subarray(from, from + pieceSize)
}

/** Gives lines with their ends, in batches as they arrive. */
export async function* lineBatches(pieces: AsyncIterable<Buffer>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const piece of pieces) {
    rest += decoder.decode(piece, { stream: true })
    const end = rest.length > longestLine ? rest.length : rest.lastIndexOf('\n') + 1
    if (end === 0) continue
    yield rest.slice(0, end).split(/(?<=\n)/)
    rest = rest.slice(end)
  }
  if (rest !== '') yield [rest]
}
