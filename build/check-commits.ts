import { longest, longSubjects } from './commits/subjects.ts'
import { at } from './places.ts'

/** Part of `npm run check`: checks the subjects of commits that are not on the remote's main yet. */
const long = await longSubjects(at('.'), 'build/commits/subjects.ts')
if (long === undefined) process.stdout.write('There is no git history here to check.\n')
for (const commit of long ?? []) process.stdout.write(`longer than ${longest} characters: ${commit}\n`)
if (long !== undefined && long.length > 0) process.exitCode = 1
