const frames = window.sampledashFrames ??= new Map();
export default async function ({ data }) {
  const { version, ...more } = await window.sampledashUnpack(data);
  frames.set(version, more);
  window.sampledashLive?.near();
}
