/* SPDX-License-Identifier: MIT */
/* Numbers of public models' configs, and the ropes that they define. */
#ifndef POSENC_TESTS_FAMILIES_H
#define POSENC_TESTS_FAMILIES_H

#include "posenc.h"

/* Factors of Phi-3.5-mini, which its config.json has as f32 numbers. */
#define PHI_LONG                                                                                                       \
  "[1.0800000429153442,1.11,1.14,1.34,1.59,1.6,1.62,2.62,3.23,3.23,4.79,7.4,7.7,9.09,12.2,17.67,24.46,28.57,30.42,"    \
  "30.84,32.59,32.93,42.32,44.96,50.34,50.45,57.55,57.93,58.21,60.14,62.61,62.62,62.71,63.14,63.14,63.77,63.93,63.96," \
  "63.97,64.03,64.07,64.08,64.12,64.41,64.48,64.51,64.53,64.83999633789062]"
#define PHI_SHORT                                                                                                      \
  "[1,1.02,1.03,1.03,1.05,1.05,1.05,1.05,1.05,1.07,1.1,1.11,1.16,1.16,1.17,1.29,1.34,1.68,1.79,1.82,1.85,1.88,1.91,"   \
  "1.94,1.99,2.02,2.02,2.02,2.02,2.02,2.02,2.03,2.03,2.03,2.03,2.03,2.03,2.03,2.03,2.03,2.08,2.09,2.19,2.22,2.59,"     \
  "2.73,2.75,2.8399994373321533]"

typedef struct family {
  const char *name;   /* the repository on huggingface.co whose config.json has these numbers */
  const char *config; /* the keys that matter */
  const char *layer;
  double base;
  int64_t dim, head, positions;
  int64_t length;      /* length of a sequence */
  const char *scaling; /* beginning of its scaling */
  double attention;    /* its attention factor; 0 is the formula's */
  posenc_layout pairs;
} family;

#define HALVES POSENC_SPLIT
#define PAIRS POSENC_INTERLEAVED

static const family families[] = {
    {"meta-llama/Llama-2-7b-hf",
     "{'model_type':'llama','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':4096,"
     "'rope_scaling':null}",
     NULL, 1e4, 128, 128, 4096, 4096, "none", 0, HALVES},
    {"meta-llama/Meta-Llama-3-8B",
     "{'model_type':'llama','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':8192,"
     "'rope_theta':500000.0,'rope_scaling':null}",
     NULL, 5e5, 128, 128, 8192, 8192, "none", 0, HALVES},
    {"meta-llama/Llama-3.1-8B",
     "{'model_type':'llama','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':131072,"
     "'rope_theta':500000.0,'rope_scaling':{'factor':8.0,'low_freq_factor':1.0,'high_freq_factor':4.0,"
     "'original_max_position_embeddings':8192,'rope_type':'llama3'}}",
     NULL, 5e5, 128, 128, 131072, 131072, "llama3", 0, HALVES},
    {"meta-llama/Llama-3.2-1B",
     "{'model_type':'llama','hidden_size':2048,'num_attention_heads':32,'head_dim':64,"
     "'max_position_embeddings':131072,'rope_theta':500000.0,'rope_scaling':{'factor':32.0,'low_freq_factor':1.0,"
     "'high_freq_factor':4.0,'original_max_position_embeddings':8192,'rope_type':'llama3'}}",
     NULL, 5e5, 64, 64, 131072, 100, "llama3,factor=32", 0, HALVES},
    {"mistralai/Mistral-7B-v0.1",
     "{'model_type':'mistral','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':32768,"
     "'rope_theta':10000.0,'sliding_window':4096}",
     NULL, 1e4, 128, 128, 32768, 1, "none", 0, HALVES},
    {"mistralai/Mistral-Nemo-Base-2407",
     "{'model_type':'mistral','hidden_size':5120,'num_attention_heads':32,'head_dim':128,"
     "'max_position_embeddings':131072,'rope_theta':1000000.0}",
     NULL, 1e6, 128, 128, 131072, 1, "none", 0, HALVES},
    {"mistralai/Mixtral-8x7B-v0.1",
     "{'model_type':'mixtral','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':32768,"
     "'rope_theta':1000000.0}",
     NULL, 1e6, 128, 128, 32768, 1, "none", 0, HALVES},
    {"Qwen/Qwen2-7B",
     "{'model_type':'qwen2','hidden_size':3584,'num_attention_heads':28,'max_position_embeddings':131072,"
     "'rope_theta':1000000.0}",
     NULL, 1e6, 128, 128, 131072, 1, "none", 0, HALVES},
    {"Qwen/Qwen2.5-7B-Instruct, with the rope_scaling of its README",
     "{'model_type':'qwen2','hidden_size':3584,'num_attention_heads':28,'max_position_embeddings':32768,"
     "'rope_theta':1000000.0,'rope_scaling':{'factor':4.0,'original_max_position_embeddings':32768,'type':'yarn'}}",
     NULL, 1e6, 128, 128, 32768, 1, "yarn,factor=4,original=32768", 0, HALVES},
    {"Qwen/Qwen2-VL-7B-Instruct",
     "{'model_type':'qwen2_vl','hidden_size':3584,'num_attention_heads':28,'max_position_embeddings':32768,"
     "'rope_theta':1000000.0,'rope_scaling':{'type':'mrope','mrope_section':[16,24,24]}}",
     NULL, 1e6, 128, 128, 32768, 1, "none", 0, HALVES},
    {"Qwen/Qwen3-0.6B",
     "{'model_type':'qwen3','hidden_size':1024,'num_attention_heads':16,'head_dim':128,"
     "'max_position_embeddings':40960,'rope_theta':1000000,'rope_scaling':null}",
     NULL, 1e6, 128, 128, 40960, 1, "none", 0, HALVES},
    {"google/gemma-2-9b",
     "{'model_type':'gemma2','hidden_size':3584,'num_attention_heads':16,'head_dim':256,"
     "'max_position_embeddings':8192,'rope_theta':10000.0}",
     NULL, 1e4, 256, 256, 8192, 1, "none", 0, HALVES},
    {"google/gemma-3-1b-pt, full attention",
     "{'model_type':'gemma3_text','hidden_size':1152,'num_attention_heads':4,'head_dim':256,"
     "'max_position_embeddings':32768,'rope_theta':1000000,'rope_local_base_freq':10000,'rope_scaling':null}",
     "full_attention", 1e6, 256, 256, 32768, 1, "none", 0, HALVES},
    {"google/gemma-3-1b-pt, sliding attention",
     "{'model_type':'gemma3_text','hidden_size':1152,'num_attention_heads':4,'head_dim':256,"
     "'max_position_embeddings':32768,'rope_theta':1000000,'rope_local_base_freq':10000,'rope_scaling':null}",
     "sliding_attention", 1e4, 256, 256, 32768, 1, "none", 0, HALVES},
    {"google/gemma-3-4b-it, whose text_config leaves out the class's defaults",
     "{'model_type':'gemma3','text_config':{'model_type':'gemma3_text','hidden_size':2560,"
     "'rope_scaling':{'factor':8.0,'rope_type':'linear'},'sliding_window':1024}}",
     "full_attention", 1e6, 256, 256, 131072, 1, "linear,factor=8", 0, HALVES},
    {"google/gemma-3-27b-it, sliding attention, without the scaling",
     "{'model_type':'gemma3','text_config':{'model_type':'gemma3_text','hidden_size':5376,'head_dim':128,"
     "'num_attention_heads':32,'rope_scaling':{'factor':8.0,'rope_type':'linear'},'sliding_window':1024}}",
     "sliding_attention", 1e4, 128, 128, 131072, 1, "none", 0, HALVES},
    {"the same in the form of transformers 5",
     "{'text_config':{'model_type':'gemma3_text','head_dim':128,'rope_parameters':{'full_attention':{'factor':8.0,"
     "'rope_theta':1000000.0,'rope_type':'linear'},'sliding_attention':{'rope_theta':10000.0,"
     "'rope_type':'default'}}}}",
     "full_attention", 1e6, 128, 128, 131072, 1, "linear,factor=8", 0, HALVES},
    {"google/gemma-4-12b, sliding attention",
     "{'text_config':{'model_type':'gemma4_text','head_dim':256,'global_head_dim':512,"
     "'rope_parameters':{'full_attention':{'partial_rotary_factor':0.25,'rope_theta':1000000.0,"
     "'rope_type':'proportional'},'sliding_attention':{'rope_theta':10000.0,'rope_type':'default'}}}}",
     "sliding_attention", 1e4, 256, 256, 0, 1, "none", 0, HALVES},
    {"microsoft/phi-2",
     "{'model_type':'phi','hidden_size':2560,'num_attention_heads':32,'max_position_embeddings':2048,"
     "'partial_rotary_factor':0.4,'rope_theta':10000.0,'rope_scaling':null}",
     NULL, 1e4, 32, 80, 2048, 1, "none", 0, HALVES},
    {"microsoft/Phi-3.5-mini-instruct, short",
     "{'model_type':'phi3','hidden_size':3072,'num_attention_heads':32,'max_position_embeddings':131072,"
     "'original_max_position_embeddings':4096,'rope_theta':10000.0,'rope_scaling':{'long_factor':" PHI_LONG
     ",'short_factor':" PHI_SHORT ",'type':'longrope'}}",
     NULL, 1e4, 96, 96, 131072, 4096, "longrope,factor=32,original=4096,factors=1:1.02:1.03", 0, HALVES},
    {"microsoft/Phi-3.5-mini-instruct, long",
     "{'model_type':'phi3','hidden_size':3072,'num_attention_heads':32,'max_position_embeddings':131072,"
     "'original_max_position_embeddings':4096,'rope_theta':10000.0,'rope_scaling':{'long_factor':" PHI_LONG
     ",'short_factor':" PHI_SHORT ",'type':'su'}}",
     NULL, 1e4, 96, 96, 131072, 4097, "longrope,factor=32,original=4096,factors=1.0800000429153442:1.11", 0, HALVES},
    {"microsoft/Phi-4-mini-instruct, whose head has 128 columns",
     "{'model_type':'phi3','hidden_size':3072,'num_attention_heads':24,'partial_rotary_factor':0.75,"
     "'max_position_embeddings':131072,'original_max_position_embeddings':4096,'rope_theta':10000.0,"
     "'rope_scaling':{'long_factor':" PHI_LONG ",'short_factor':" PHI_SHORT ",'type':'longrope'}}",
     NULL, 1e4, 96, 128, 131072, 4097, "longrope,factor=32,original=4096", 0, HALVES},
    {"microsoft/phi-4",
     "{'model_type':'phi3','hidden_size':5120,'num_attention_heads':40,'max_position_embeddings':16384,"
     "'original_max_position_embeddings':16384,'rope_theta':250000,'rope_scaling':null}",
     NULL, 250000, 128, 128, 16384, 1, "none", 0, HALVES},
    {"deepseek-ai/DeepSeek-V2",
     "{'model_type':'deepseek_v2','hidden_size':5120,'num_attention_heads':128,'qk_nope_head_dim':128,"
     "'qk_rope_head_dim':64,'max_position_embeddings':163840,'rope_theta':10000,'rope_scaling':{'beta_fast':32,"
     "'beta_slow':1,'factor':40,'mscale':0.707,'mscale_all_dim':0.707,'original_max_position_embeddings':4096,"
     "'type':'yarn'}}",
     NULL, 1e4, 64, 192, 163840, 1, "yarn,factor=40,original=4096,attention=1", 1, PAIRS},
    {"deepseek-ai/DeepSeek-V3",
     "{'model_type':'deepseek_v3','hidden_size':7168,'num_attention_heads':128,'qk_nope_head_dim':128,"
     "'qk_rope_head_dim':64,'max_position_embeddings':163840,'rope_theta':10000,'rope_scaling':{'beta_fast':32,"
     "'beta_slow':1,'factor':40,'mscale':1.0,'mscale_all_dim':1.0,'original_max_position_embeddings':4096,"
     "'type':'yarn'}}",
     NULL, 1e4, 64, 192, 163840, 1, "yarn,factor=40,original=4096,attention=1", 1, PAIRS},
    {"EleutherAI/gpt-neox-20b",
     "{'model_type':'gpt_neox','hidden_size':6144,'num_attention_heads':64,'max_position_embeddings':2048,"
     "'rotary_emb_base':10000,'rotary_pct':0.25}",
     NULL, 1e4, 24, 96, 2048, 1, "none", 0, HALVES},
    {"EleutherAI/pythia-1.4b",
     "{'model_type':'gpt_neox','hidden_size':2048,'num_attention_heads':16,'max_position_embeddings':2048,"
     "'rotary_emb_base':10000,'rotary_pct':0.25}",
     NULL, 1e4, 32, 128, 2048, 1, "none", 0, HALVES},
    {"EleutherAI/gpt-j-6b", "{'model_type':'gptj','n_embd':4096,'n_head':16,'n_positions':2048,'rotary_dim':64}", NULL,
     1e4, 64, 256, 2048, 1, "none", 0, PAIRS},
    {"tiiuae/falcon-7b", "{'model_type':'falcon','hidden_size':4544,'num_attention_heads':71,'alibi':false}", NULL, 1e4,
     64, 64, 0, 1, "none", 0, HALVES},
    {"stabilityai/stablelm-2-1_6b",
     "{'model_type':'stablelm','hidden_size':2048,'num_attention_heads':32,'max_position_embeddings':4096,"
     "'partial_rotary_factor':0.25,'rope_theta':10000}",
     NULL, 1e4, 16, 64, 4096, 1, "none", 0, HALVES},
    {"CohereForAI/c4ai-command-r-v01",
     "{'model_type':'cohere','hidden_size':8192,'num_attention_heads':64,'max_position_embeddings':8192,"
     "'rope_theta':8000000.0}",
     NULL, 8e6, 128, 128, 8192, 1, "none", 0, PAIRS},
    {"answerdotai/ModernBERT-base, global",
     "{'model_type':'modernbert','hidden_size':768,'num_attention_heads':12,'max_position_embeddings':8192,"
     "'global_rope_theta':160000.0,'local_rope_theta':10000.0,'position_embedding_type':'absolute'}",
     "full_attention", 160000, 64, 64, 8192, 1, "none", 0, HALVES},
    {"answerdotai/ModernBERT-base, local",
     "{'model_type':'modernbert','hidden_size':768,'num_attention_heads':12,'max_position_embeddings':8192,"
     "'global_rope_theta':160000.0,'local_rope_theta':10000.0}",
     "sliding_attention", 1e4, 64, 64, 8192, 1, "none", 0, HALVES},
    {"openai/gpt-oss-20b",
     "{'model_type':'gpt_oss','hidden_size':2880,'num_attention_heads':64,'head_dim':64,"
     "'max_position_embeddings':131072,'rope_theta':150000,'rope_scaling':{'beta_fast':32.0,'beta_slow':1.0,"
     "'factor':32.0,'original_max_position_embeddings':4096,'rope_type':'yarn','truncate':false}}",
     NULL, 150000, 64, 64, 131072, 1, "yarn,factor=32,original=4096,truncate=no", 0, HALVES},
    {"allenai/OLMo-2-1124-7B",
     "{'model_type':'olmo2','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':4096,"
     "'rope_theta':500000,'rope_scaling':null}",
     NULL, 5e5, 128, 128, 4096, 1, "none", 0, HALVES},
    {"lmsys/vicuna-7b-v1.5-16k",
     "{'model_type':'llama','hidden_size':4096,'num_attention_heads':32,'max_position_embeddings':4096,"
     "'rope_scaling':{'factor':4.0,'type':'linear'}}",
     NULL, 1e4, 128, 128, 4096, 1, "linear,factor=4", 0, HALVES},
    {"tencent/Hunyuan-A13B-Instruct, whose base is stretched by 1000",
     "{'model_type':'hunyuan_v1_moe','hidden_size':4096,'num_attention_heads':32,'attention_head_dim':128,"
     "'head_dim':128,'max_position_embeddings':32768,'rope_theta':10000.0,'rope_scaling':{'alpha':1000.0,"
     "'beta_fast':32,'beta_slow':1,'factor':1.0,'mscale':1.0,'mscale_all_dim':1.0,'type':'dynamic'}}",
     NULL, 1e4, 128, 128, 32768, 1, "dynamic,factor=1,original=2,length=2000", 0, HALVES},
    {"THUDM/glm-4-9b-chat-hf",
     "{'model_type':'glm','hidden_size':4096,'num_attention_heads':32,'head_dim':128,'partial_rotary_factor':0.5,"
     "'max_position_embeddings':131072,'rope_theta':10000.0}",
     NULL, 1e4, 64, 128, 131072, 1, "none", 0, PAIRS},
    {"THUDM/chatglm3-6b-32k",
     "{'model_type':'chatglm','hidden_size':4096,'num_attention_heads':32,'kv_channels':128,'seq_length':32768,"
     "'rope_ratio':50}",
     NULL, 5e5, 64, 128, 32768, 1, "none", 0, PAIRS},
    {"nomic-ai/nomic-bert-2048",
     "{'model_type':'nomic_bert','n_embd':768,'n_head':12,'n_positions':2048,'rotary_emb_base':1000,"
     "'rotary_emb_fraction':1.0,'rotary_emb_interleaved':false,'rotary_emb_scale_base':null}",
     NULL, 1000, 64, 64, 2048, 1, "none", 0, HALVES},
};

#endif
