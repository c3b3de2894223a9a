import { buildAll } from './dist.ts'

/** `npm run build` */
await buildAll()
