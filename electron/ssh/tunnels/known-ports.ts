/** Ports inside an instance at which web interfaces are usually found, by the name people know them by. */
const names: ReadonlyMap<number, string> = new Map([
  [8080, 'Jupyter'],
  [8188, 'ComfyUI'],
  [7860, 'Gradio'],
  [8000, 'vLLM'],
  [6006, 'TensorBoard'],
  [11434, 'Ollama'],
  [8888, 'Jupyter Notebook'],
  [8501, 'Streamlit'],
  [8265, 'Ray'],
  [5000, 'MLflow'],
  [9090, 'InvokeAI'],
])

/** Ports that are looked at although nobody named them. */
export const usualPorts: readonly number[] = [...names.keys(), 3000]

/** What is usually found at a port: a guess by its number alone. */
export function portName(port: number): string {
  return names.get(port) ?? `Port ${port}`
}
