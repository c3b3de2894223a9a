import { readdirSync, readFileSync } from 'node:fs'
import { expressionsIn } from './expressions/find.ts'
import { slowness } from './expressions/slow.ts'
import { at } from './places.ts'

/**
 * Refuses regular expressions that may take more than linear time: hosts, services and authors of templates choose such
 * texts. Expressions built at run time cannot be judged, and are refused too, except in the simulator, which gets
 * expressions from tests.
 */
const places = ['electron', 'renderer', 'simulator']

let count = 0
let refused = 0
for (const place of places) {
  for (const name of readdirSync(at(place), { recursive: true, encoding: 'utf8' }).sort()) {
    if (!/\.(ts|svelte)$/.test(name)) continue
    const file = `${place}/${name}`
    for (const { line, literal } of expressionsIn(file, readFileSync(at(file), 'utf8'))) {
      count += 1
      const made = place === 'simulator' ? [] : ['it is put together while the program runs']
      for (const why of literal ? slowness(literal) : made) {
        refused += 1
        process.stdout.write(
          `${file}:${line}  ${literal ? `/${literal.source}/${literal.flags}: ` : ''}${why}\n`,
        )
      }
    }
  }
}
process.stdout.write(`${count} regular expressions, ${refused} refused\n`)
process.exitCode = refused === 0 ? 0 : 1
