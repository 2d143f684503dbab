export default async () => {
  await globalThis.fixpointTestServers?.stop();
};
