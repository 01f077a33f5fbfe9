# almoner without a store of its own: it needs REDIS_URL (docker-compose.yml gives it one).
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json tsconfig.build.json ./
COPY scripts scripts
COPY src src
RUN npm run build && npm prune --omit=dev

FROM node:24-slim
ENV NODE_ENV=production ALMONER_DATA=/data ALMONER_STATE=/state ALMONER_REPORTS=/reports
WORKDIR /app
# Made here so that new volumes belong to the user that runs the program.
RUN mkdir /data /state /reports && chown node:node /data /state /reports && chmod 700 /data /state /reports
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY jobs jobs
USER node
ENTRYPOINT ["node", "dist/cli/main.js"]
CMD ["--help"]
