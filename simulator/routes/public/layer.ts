import type { ApiRequest, Route } from '#simulator/http/route.ts'

/** What a deployment answers in place of the interface, whose own answer is `plain`, by method and path. */
export type Layer = Readonly<
  Record<string, (request: ApiRequest, plain: Route['answer']) => ReturnType<Route['answer']>>
>

/** The routes under a layer, each as the interface has it but for its answer. Throws for one that it lacks. */
export function layered(routes: readonly Route[], layer: Layer): Route[] {
  return Object.entries(layer).map(([name, answer]) => {
    const [method, path] = name.split(' ')
    const plain = routes.find(route => route.method === method && route.path === path)
    if (!plain) throw new Error(`The interface has no ${name}.`)
    return { ...plain, answer: request => answer(request, plain.answer) }
  })
}
